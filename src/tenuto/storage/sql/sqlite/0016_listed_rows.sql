-- Whether the audit log lists the digests of all rows of a user. Those of an earlier release are listed in the background.
ALTER TABLE users ADD COLUMN listed INTEGER NOT NULL DEFAULT 0;
CREATE INDEX users_unlisted ON users (user_id) WHERE listed = 0;
