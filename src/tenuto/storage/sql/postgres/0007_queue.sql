-- Leasing reads one user's unfinished jobs of one kind, and nothing else. A caller's own session id names one session per
-- persona: the same thread of an application may be talked about with two of them.
CREATE INDEX jobs_waiting ON jobs (user_id, kind, run_at, id) WHERE status IN ('pending', 'running');
DROP INDEX sessions_external;
CREATE UNIQUE INDEX sessions_external ON sessions (user_id, external_id, coalesce(persona, ''))
    WHERE external_id IS NOT NULL;
