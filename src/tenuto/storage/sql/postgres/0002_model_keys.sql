-- People's own keys for model providers, sealed before they get here.

CREATE TABLE model_keys (
    user_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    created_at bigint NOT NULL,
    revision bigint NOT NULL,
    body bytea NOT NULL,
    PRIMARY KEY (user_id, id)
);
