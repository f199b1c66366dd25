-- What was taken out of the index lately, so that an index in memory drops just that instead of being made anew. Ids only.
CREATE TABLE removed_entries (
    user_id TEXT NOT NULL,
    seq INTEGER NOT NULL,
    id TEXT NOT NULL,
    PRIMARY KEY (user_id, seq)
) WITHOUT ROWID;
