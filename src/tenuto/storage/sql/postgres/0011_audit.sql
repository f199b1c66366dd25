-- The audit log: one chain a user. subject stands for the user in it; count and head say where the chain ends.
-- When the user is erased, user_id of the links becomes the subject, and nothing leads from one to the other.
ALTER TABLE users ADD COLUMN subject text COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE users ADD COLUMN audit_count bigint NOT NULL DEFAULT 0;
ALTER TABLE users ADD COLUMN audit_head text COLLATE "C" NOT NULL DEFAULT '';
SELECT set_config('tenuto.system', 'on', true);
UPDATE users SET subject = left(replace(gen_random_uuid()::text, '-', ''), 24);

CREATE TABLE audit (
    user_id text COLLATE "C" NOT NULL,
    n bigint NOT NULL,
    "at" bigint NOT NULL,
    actor text COLLATE "C" NOT NULL,
    verb text COLLATE "C" NOT NULL,
    body text COLLATE "C" NOT NULL,
    hash bytea NOT NULL,
    PRIMARY KEY (user_id, n)
);
ALTER TABLE audit ENABLE ROW LEVEL SECURITY;
ALTER TABLE audit FORCE ROW LEVEL SECURITY;
CREATE POLICY one_user ON audit
    USING (user_id = current_setting('tenuto.user', true) OR current_setting('tenuto.system', true) = 'on')
    WITH CHECK (user_id = current_setting('tenuto.user', true) OR current_setting('tenuto.system', true) = 'on');
