-- What PostgreSQL does differently.

-- name: lock_user
SELECT seq, epoch, subject, audit_count, audit_head, substr(body, 1, 7) FROM users WHERE user_id = :user
FOR UPDATE

-- name: lock_new_user
-- A user without a row has nothing to lock: the first writers queue here, and look again when it is their turn.
SELECT pg_advisory_xact_lock(hashtextextended(:user, 0))

-- name: entries_since
SELECT kind, id, at, seq, persona, session_id, role, speaker, links, model, tokens, halfvec_send(vector),
    sealed_vector
FROM entries WHERE user_id = :user AND seq > :seq ORDER BY seq LIMIT :limit

-- name: unembedded
-- Three ranges of one index: a single condition would walk over everything that has its vector already.
SELECT * FROM (
    SELECT * FROM (SELECT kind, id, at, seq, persona, session_id, role, speaker, links, model, tokens, NULL::bytea AS vector, NULL::bytea AS sealed_vector FROM entries
        WHERE user_id = :user AND model <= '' ORDER BY model DESC, seq DESC LIMIT :limit) AS part_1
    UNION ALL
    SELECT * FROM (SELECT kind, id, at, seq, persona, session_id, role, speaker, links, model, tokens, NULL::bytea AS vector, NULL::bytea AS sealed_vector FROM entries
        WHERE user_id = :user AND model > '' AND model < :model ORDER BY model DESC, seq DESC LIMIT :limit) AS part_2
    UNION ALL
    SELECT * FROM (SELECT kind, id, at, seq, persona, session_id, role, speaker, links, model, tokens, NULL::bytea AS vector, NULL::bytea AS sealed_vector FROM entries
        WHERE user_id = :user AND model > :model ORDER BY model DESC, seq DESC LIMIT :limit) AS part_3
) AS waiting ORDER BY seq DESC LIMIT :limit

-- name: entry_vectors
SELECT id, seq, halfvec_send(vector), sealed_vector FROM entries
WHERE user_id = :user AND kind = :kind AND model = :model

-- name: nearest
SELECT id, 1 - (vector <=> :vector) FROM entries
WHERE user_id = :user AND kind = :kind AND model = :model AND vector IS NOT NULL
ORDER BY vector <=> :vector, id LIMIT :limit

-- name: lease_pick
SELECT user_id, kind FROM jobs
WHERE status IN ('pending', 'running') AND run_at <= :now
  AND (status = 'pending' OR lease_until < :now)
  AND kind = ANY(ARRAY(SELECT json_array_elements_text(:kinds::json)))
  AND (user_id, kind) NOT IN (
    SELECT other.user_id, other.kind FROM jobs AS other
    WHERE other.status = 'running' AND other.lease_until >= :now
      AND other.kind = ANY(ARRAY(SELECT json_array_elements_text(:in_turn::json))))
ORDER BY run_at, id LIMIT 1 FOR UPDATE SKIP LOCKED

-- name: lease_turn
-- Whoever leases of the same user and kind at this moment is seen by its lock, later by its rows.
SELECT 1 FROM (SELECT pg_try_advisory_xact_lock(hashtextextended(:user || ' ' || :kind, 0)) AS free) AS turn WHERE free

-- name: lease_take
-- Chosen once and apart: a plan that asked again for every row would take more than the limit.
WITH due AS MATERIALIZED (
    SELECT id FROM jobs
    WHERE status IN ('pending', 'running') AND user_id = :user AND kind = :kind AND run_at <= :now
      AND (status = 'pending' OR lease_until < :now)
      AND (user_id, kind) NOT IN (
        SELECT other.user_id, other.kind FROM jobs AS other
        WHERE other.status = 'running' AND other.lease_until >= :now
          AND other.kind = ANY(ARRAY(SELECT json_array_elements_text(:in_turn::json))))
    ORDER BY run_at, id LIMIT :limit FOR UPDATE SKIP LOCKED)
UPDATE jobs SET status = 'running', lease_until = :until, fence = fence + 1, attempts = attempts + 1
WHERE user_id = :user AND id IN (SELECT id FROM due)
RETURNING user_id, id, {job_columns}

-- name: hold_job
SELECT id FROM jobs WHERE user_id = :user AND dedupe = :dedupe AND status = 'pending' FOR SHARE

-- name: list_jobs
SELECT user_id, id, {job_columns} FROM jobs
WHERE (:status::text = '' OR status = :status) AND (:user::text = '' OR user_id = :user)
ORDER BY created_at DESC, id DESC LIMIT :limit

-- name: unfinished_jobs
SELECT count(*) FROM (
    SELECT user_id, kind FROM jobs WHERE status IN ('pending', 'running') AND status = 'pending' AND run_at <= :now
    UNION ALL
    SELECT user_id, kind FROM jobs WHERE status = 'running'
) AS unfinished
WHERE (:user::text = '' OR user_id = :user) AND kind = ANY(ARRAY(SELECT json_array_elements_text(:kinds::json)))

-- name: lock_address
SELECT pg_advisory_xact_lock(hashtextextended(:place, 1))
