-- Who holds an address on a channel, the challenges that prove it, merges of users, and imports.

-- The only tables that are found by an address and not by a user; place stands for channel and address.
CREATE TABLE addresses (
    place text COLLATE "C" NOT NULL,
    user_id text COLLATE "C" NOT NULL,
    claimed_at bigint NOT NULL,
    PRIMARY KEY (place)
);
CREATE INDEX addresses_user ON addresses (user_id);

CREATE TABLE challenges (
    place text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    user_id text COLLATE "C" NOT NULL,
    created_at bigint NOT NULL,
    body bytea NOT NULL,
    PRIMARY KEY (place, id)
);
CREATE INDEX challenges_user ON challenges (user_id);

CREATE TABLE user_merges (
    user_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    status text COLLATE "C" NOT NULL,
    created_at bigint NOT NULL,
    revision bigint NOT NULL,
    body bytea NOT NULL,
    PRIMARY KEY (user_id, id)
);

CREATE TABLE merge_parts (
    user_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    merge_id text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL,
    revision bigint NOT NULL,
    body bytea NOT NULL,
    PRIMARY KEY (user_id, id)
);
CREATE INDEX merge_parts_merge ON merge_parts (user_id, merge_id);

CREATE TABLE imports (
    user_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    status text COLLATE "C" NOT NULL,
    started_at bigint NOT NULL,
    vouched_at bigint,
    revision bigint NOT NULL,
    body bytea NOT NULL,
    PRIMARY KEY (user_id, id)
);
