-- People's own keys for model providers, sealed before they get here.

CREATE TABLE model_keys (
    user_id TEXT NOT NULL,
    id TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (user_id, id)
) WITHOUT ROWID;
