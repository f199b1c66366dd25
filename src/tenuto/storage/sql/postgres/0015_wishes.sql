-- What people asked of memory itself: forget, do not bring up. Everything that is read asks these first.
CREATE TABLE wishes (
    user_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL,
    active smallint NOT NULL,
    created_at bigint NOT NULL,
    revision bigint NOT NULL,
    body bytea NOT NULL,
    PRIMARY KEY (user_id, id)
);
ALTER TABLE wishes ENABLE ROW LEVEL SECURITY;
ALTER TABLE wishes FORCE ROW LEVEL SECURITY;
CREATE POLICY one_user ON wishes
    USING (user_id = current_setting('tenuto.user', true) OR current_setting('tenuto.system', true) = 'on')
    WITH CHECK (user_id = current_setting('tenuto.user', true) OR current_setting('tenuto.system', true) = 'on');
