-- Keys of the server (rows of the operator, whose user_id is empty) and answers kept for repeated requests.

CREATE TABLE api_keys (
    user_id TEXT NOT NULL,
    id TEXT NOT NULL,
    digest TEXT NOT NULL,
    scope TEXT NOT NULL,
    kind TEXT NOT NULL,
    subject TEXT,
    parent TEXT,
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    revoked_at INTEGER,
    revision INTEGER NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (user_id, id)
) WITHOUT ROWID;
CREATE UNIQUE INDEX api_keys_digest ON api_keys (user_id, digest);
CREATE INDEX api_keys_subject ON api_keys (user_id, subject);
CREATE INDEX api_keys_parent ON api_keys (user_id, parent);

CREATE TABLE replays (
    user_id TEXT NOT NULL,
    id TEXT NOT NULL,
    "at" INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (user_id, id)
) WITHOUT ROWID;
CREATE INDEX replays_at ON replays (user_id, at);
