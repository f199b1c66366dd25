-- Who holds an address on a channel, the challenges that prove it, merges of users, and imports.

-- The only tables that are found by an address and not by a user; place stands for channel and address.
CREATE TABLE addresses (
    place TEXT NOT NULL,
    user_id TEXT NOT NULL,
    claimed_at INTEGER NOT NULL,
    PRIMARY KEY (place)
) WITHOUT ROWID;
CREATE INDEX addresses_user ON addresses (user_id);

CREATE TABLE challenges (
    place TEXT NOT NULL,
    id TEXT NOT NULL,
    user_id TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (place, id)
) WITHOUT ROWID;
CREATE INDEX challenges_user ON challenges (user_id);

CREATE TABLE user_merges (
    user_id TEXT NOT NULL,
    id TEXT NOT NULL,
    status TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (user_id, id)
) WITHOUT ROWID;

CREATE TABLE merge_parts (
    user_id TEXT NOT NULL,
    id TEXT NOT NULL,
    merge_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    revision INTEGER NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (user_id, id)
) WITHOUT ROWID;
CREATE INDEX merge_parts_merge ON merge_parts (user_id, merge_id);

CREATE TABLE imports (
    user_id TEXT NOT NULL,
    id TEXT NOT NULL,
    status TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    vouched_at INTEGER,
    revision INTEGER NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (user_id, id)
) WITHOUT ROWID;
