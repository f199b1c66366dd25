-- What was taken out of the index lately, so that an index in memory drops just that instead of being made anew. Ids only.
CREATE TABLE removed_entries (
    user_id text COLLATE "C" NOT NULL,
    seq bigint NOT NULL,
    id text COLLATE "C" NOT NULL,
    PRIMARY KEY (user_id, seq)
);
ALTER TABLE removed_entries ENABLE ROW LEVEL SECURITY;
ALTER TABLE removed_entries FORCE ROW LEVEL SECURITY;
CREATE POLICY one_user ON removed_entries
    USING (user_id = current_setting('tenuto.user', true) OR current_setting('tenuto.system', true) = 'on')
    WITH CHECK (user_id = current_setting('tenuto.user', true) OR current_setting('tenuto.system', true) = 'on');
