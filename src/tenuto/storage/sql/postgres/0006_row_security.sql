-- The second line behind the store's own conditions: a transaction sees and writes only rows of the user that it was
-- begun for, whatever its SQL says. A role that owns the tables is bound too (FORCE); superusers and BYPASSRLS roles are
-- not, so the application must connect as neither. Work across users (leases, sweeps) is begun as the system.
DO $$
DECLARE
    name text;
BEGIN
    FOR name IN
        SELECT c.relname FROM pg_class c
        JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'user_id' AND NOT a.attisdropped
        WHERE c.relkind = 'r' AND c.relnamespace = current_schema()::regnamespace
    LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
        EXECUTE format(
            'CREATE POLICY one_user ON %I USING (user_id = current_setting(''tenuto.user'', true) '
            'OR current_setting(''tenuto.system'', true) = ''on'') '
            'WITH CHECK (user_id = current_setting(''tenuto.user'', true) '
            'OR current_setting(''tenuto.system'', true) = ''on'')',
            name
        );
    END LOOP;
END
$$;
