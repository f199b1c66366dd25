-- The audit log: one chain a user. subject stands for the user in it; count and head say where the chain ends.
-- When the user is erased, user_id of the links becomes the subject, and nothing leads from one to the other.
ALTER TABLE users ADD COLUMN subject TEXT NOT NULL DEFAULT '';
ALTER TABLE users ADD COLUMN audit_count INTEGER NOT NULL DEFAULT 0;
ALTER TABLE users ADD COLUMN audit_head TEXT NOT NULL DEFAULT '';
UPDATE users SET subject = lower(hex(randomblob(12)));

CREATE TABLE audit (
    user_id TEXT NOT NULL,
    n INTEGER NOT NULL,
    "at" INTEGER NOT NULL,
    actor TEXT NOT NULL,
    verb TEXT NOT NULL,
    body TEXT NOT NULL,
    hash BLOB NOT NULL,
    PRIMARY KEY (user_id, n)
) WITHOUT ROWID;
