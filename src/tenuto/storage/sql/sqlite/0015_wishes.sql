-- What people asked of memory itself: forget, do not bring up. Everything that is read asks these first.
CREATE TABLE wishes (
    user_id TEXT NOT NULL,
    id TEXT NOT NULL,
    kind TEXT NOT NULL,
    active INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (user_id, id)
) WITHOUT ROWID;
