-- Keys of the server (rows of the operator, whose user_id is empty) and answers kept for repeated requests.

CREATE TABLE api_keys (
    user_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    digest text COLLATE "C" NOT NULL,
    scope text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL,
    subject text COLLATE "C",
    parent text COLLATE "C",
    created_at bigint NOT NULL,
    expires_at bigint,
    revoked_at bigint,
    revision bigint NOT NULL,
    body bytea NOT NULL,
    PRIMARY KEY (user_id, id)
);
CREATE UNIQUE INDEX api_keys_digest ON api_keys (user_id, digest);
CREATE INDEX api_keys_subject ON api_keys (user_id, subject);
CREATE INDEX api_keys_parent ON api_keys (user_id, parent);

CREATE TABLE replays (
    user_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    "at" bigint NOT NULL,
    revision bigint NOT NULL,
    body bytea NOT NULL,
    PRIMARY KEY (user_id, id)
);
CREATE INDEX replays_at ON replays (user_id, "at");
