-- Named queries, shared by both dialects. What a dialect does differently stands in its own file under the same name.

-- name: get_user
SELECT user_id, seq, epoch, created_at, body FROM users WHERE user_id = :user

-- name: revision
SELECT created_at, seq, epoch, audit_head FROM users WHERE user_id = :user

-- name: lock_user
-- The head of the body says which key it was sealed with.
SELECT seq, epoch, subject, audit_count, audit_head, substr(body, 1, 7) FROM users WHERE user_id = :user

-- name: add_user
INSERT INTO users (user_id, seq, epoch, created_at, body, subject, listed)
VALUES (:user, 0, 0, :created_at, :body, :subject, 1)
ON CONFLICT (user_id) DO NOTHING

-- name: set_user
UPDATE users SET body = :body, listed = :listed WHERE user_id = :user

-- name: list_unlisted
SELECT user_id FROM users WHERE listed = 0 AND user_id >= :first ORDER BY user_id LIMIT :limit

-- name: sealed_vectors
SELECT kind, id, seq, sealed_vector FROM entries
WHERE user_id = :user AND seq > :seq AND sealed_vector IS NOT NULL ORDER BY seq LIMIT :limit

-- name: reseal_vector
UPDATE entries SET sealed_vector = :sealed WHERE user_id = :user AND seq = :seq

-- name: user_challenges
SELECT place, id, body FROM challenges WHERE user_id = :user

-- name: reseal_challenge
UPDATE challenges SET body = :body WHERE place = :place AND id = :id

-- name: advance_user
UPDATE users SET seq = :seq, epoch = :epoch, audit_count = :audit_count, audit_head = :audit_head
WHERE user_id = :user

-- name: add_link
INSERT INTO audit (user_id, n, at, actor, verb, body, hash) VALUES (:user, :n, :at, :actor, :verb, :body, :hash)

-- name: links
SELECT n, at, actor, verb, body, hash FROM audit WHERE user_id = :user AND n > :after ORDER BY n LIMIT :limit

-- name: last_links
SELECT n, at, actor, verb, body, hash FROM audit WHERE user_id = :user AND n < :before ORDER BY n DESC LIMIT :limit

-- name: last_link
SELECT n, hash FROM audit WHERE user_id = :user ORDER BY n DESC LIMIT 1

-- name: get_chain
SELECT user_id, subject, audit_count, audit_head FROM users WHERE user_id = :user

-- name: list_chains
SELECT user_id, subject, audit_count, audit_head FROM users WHERE user_id > :after ORDER BY user_id LIMIT :limit

-- name: list_orphans
SELECT DISTINCT user_id FROM audit
WHERE user_id > :after AND user_id NOT IN (SELECT user_id FROM users) ORDER BY user_id LIMIT :limit

-- name: release_chain
UPDATE audit SET user_id = :holder WHERE user_id = :user

-- name: get_fact
SELECT value FROM store_facts WHERE name = :name

-- name: set_fact
INSERT INTO store_facts (name, value) VALUES (:name, :value) ON CONFLICT (name) DO UPDATE SET value = excluded.value

-- name: list_users
SELECT user_id FROM users WHERE user_id > :after ORDER BY user_id LIMIT :limit

-- name: message_stats
SELECT count(*), min(at), max(at), avg(importance) FROM messages WHERE user_id = :user

-- name: count_memories
SELECT count(*) FROM memories
WHERE user_id = :user AND status IN ('candidate', 'confirmed', 'active', 'reinforced', 'revised')

-- name: count_pins
SELECT count(*) FROM memories
WHERE user_id = :user AND pinned = 1 AND status IN ('confirmed', 'active', 'reinforced', 'revised')

-- name: count_summaries
SELECT count(*) FROM summaries WHERE user_id = :user AND current = 1

-- name: entries_since
SELECT kind, id, at, seq, persona, session_id, role, speaker, links, model, tokens, vector, sealed_vector FROM entries
WHERE user_id = :user AND seq > :seq ORDER BY seq LIMIT :limit

-- name: unembedded
-- Three ranges of one index: a single condition would walk over everything that has its vector already.
SELECT * FROM (
    SELECT * FROM (SELECT kind, id, at, seq, persona, session_id, role, speaker, links, model, tokens, NULL AS vector, NULL AS sealed_vector FROM entries
        WHERE user_id = :user AND model <= '' ORDER BY model DESC, seq DESC LIMIT :limit) AS part_1
    UNION ALL
    SELECT * FROM (SELECT kind, id, at, seq, persona, session_id, role, speaker, links, model, tokens, NULL AS vector, NULL AS sealed_vector FROM entries
        WHERE user_id = :user AND model > '' AND model < :model ORDER BY model DESC, seq DESC LIMIT :limit) AS part_2
    UNION ALL
    SELECT * FROM (SELECT kind, id, at, seq, persona, session_id, role, speaker, links, model, tokens, NULL AS vector, NULL AS sealed_vector FROM entries
        WHERE user_id = :user AND model > :model ORDER BY model DESC, seq DESC LIMIT :limit) AS part_3
) AS waiting ORDER BY seq DESC LIMIT :limit

-- name: entry_vectors
SELECT id, seq, vector, sealed_vector FROM entries WHERE user_id = :user AND kind = :kind AND model = :model

-- name: put_entry
INSERT INTO entries (user_id, seq, kind, id, at, persona, session_id, role, speaker, links, model, tokens, vector,
    sealed_vector)
VALUES (:user, :seq, :kind, :id, :at, :persona, :session_id, :role, :speaker, :links, :model, :tokens, :vector,
    :sealed_vector)
ON CONFLICT (user_id, kind, id) DO UPDATE SET
    seq = excluded.seq, at = excluded.at, persona = excluded.persona, session_id = excluded.session_id,
    role = excluded.role, speaker = excluded.speaker, links = excluded.links, model = excluded.model,
    tokens = excluded.tokens, vector = excluded.vector, sealed_vector = excluded.sealed_vector

-- name: embed_entry
UPDATE entries SET seq = :seq, model = :model, vector = :vector, sealed_vector = :sealed_vector
WHERE user_id = :user AND kind = :kind AND id = :id

-- name: drop_entry
DELETE FROM entries WHERE user_id = :user AND kind = :kind AND id = :id

-- name: note_removal
INSERT INTO removed_entries (user_id, seq, id) VALUES (:user, :seq, :id)

-- name: removed_since
SELECT id FROM removed_entries WHERE user_id = :user AND seq > :seq ORDER BY seq DESC LIMIT :limit

-- name: forget_removals
DELETE FROM removed_entries WHERE user_id = :user AND seq < (
    SELECT seq FROM removed_entries WHERE user_id = :user ORDER BY seq DESC LIMIT 1 OFFSET :kept)

-- name: lease_pick
-- A leased job was due when it was taken, so all that can be taken lies before now in the index of what is unfinished.
SELECT user_id, kind FROM jobs INDEXED BY jobs_due
WHERE status IN ('pending', 'running') AND run_at <= :now
  AND (status = 'pending' OR lease_until < :now)
  AND kind IN (SELECT value FROM json_each(:kinds))
  AND (user_id, kind) NOT IN (
    SELECT user_id, kind FROM jobs INDEXED BY jobs_status
    WHERE status = 'running' AND lease_until >= :now AND kind IN (SELECT value FROM json_each(:in_turn)))
ORDER BY run_at, id LIMIT 1

-- name: lease_turn
-- One writer at a time: whoever is here has the turn.
SELECT :user, :kind

-- name: lease_take
UPDATE jobs SET status = 'running', lease_until = :until, fence = fence + 1, attempts = attempts + 1
WHERE user_id = :user AND id IN (
    SELECT id FROM jobs
    WHERE status IN ('pending', 'running') AND user_id = :user AND kind = :kind AND run_at <= :now
      AND (status = 'pending' OR lease_until < :now)
      AND (user_id, kind) NOT IN (
        SELECT user_id, kind FROM jobs INDEXED BY jobs_status
        WHERE status = 'running' AND lease_until >= :now AND kind IN (SELECT value FROM json_each(:in_turn)))
    ORDER BY run_at, id LIMIT :limit)
RETURNING user_id, id, {job_columns}

-- name: ahead_jobs
SELECT count(*) FROM jobs WHERE status IN ('pending', 'running')
  AND ((status = 'running' AND lease_until > :lease) OR (status = 'pending' AND created_at > :created)
    OR (status = 'pending' AND attempts > 0 AND run_at > :retry))

-- name: mend_jobs
UPDATE jobs SET
    run_at = CASE
        WHEN status = 'pending' AND created_at > :created AND run_at > created_at THEN :now + run_at - created_at
        WHEN run_at > :now THEN :now ELSE run_at END,
    created_at = CASE WHEN status = 'pending' AND created_at > :created THEN :now ELSE created_at END,
    lease_until = CASE WHEN status = 'running' THEN :now - 1 ELSE lease_until END
WHERE status IN ('pending', 'running')
  AND ((status = 'running' AND lease_until > :lease) OR (status = 'pending' AND created_at > :created)
    OR (status = 'pending' AND attempts > 0 AND run_at > :retry))

-- name: renew_job
UPDATE jobs SET lease_until = :until WHERE user_id = :user AND id = :id AND fence = :fence AND status = 'running'

-- name: finish_job
UPDATE jobs SET status = :status, run_at = :run_at, lease_until = NULL, finished_at = :finished_at, revision = :revision,
    body = :body
WHERE user_id = :user AND id = :id AND fence = :fence AND status = 'running'

-- name: cancel_job
UPDATE jobs SET status = 'cancelled', lease_until = NULL, finished_at = :finished_at
WHERE user_id = :user AND id = :id AND fence = :fence AND status = 'running'

-- name: drop_old_jobs
DELETE FROM jobs WHERE status IN ('done', 'cancelled') AND created_at < :before

-- name: list_jobs
SELECT user_id, id, {job_columns} FROM jobs
WHERE (:status = '' OR status = :status) AND (:user = '' OR user_id = :user)
ORDER BY created_at DESC, id DESC LIMIT :limit

-- name: unfinished_jobs
SELECT count(*) FROM (
    SELECT user_id, kind FROM jobs INDEXED BY jobs_due
    WHERE status IN ('pending', 'running') AND status = 'pending' AND run_at <= :now
    UNION ALL
    SELECT user_id, kind FROM jobs WHERE status = 'running'
) AS unfinished
WHERE (:user = '' OR user_id = :user) AND kind IN (SELECT value FROM json_each(:kinds))

-- name: idle_sessions
SELECT user_id, id FROM sessions WHERE status = 'open' AND last_activity_at < :before
ORDER BY last_activity_at LIMIT :limit

-- name: address_holder
SELECT user_id FROM addresses WHERE place = :place

-- name: hold_address
INSERT INTO addresses (place, user_id, claimed_at) VALUES (:place, :user, :now)
ON CONFLICT (place) DO UPDATE SET user_id = excluded.user_id, claimed_at = excluded.claimed_at

-- name: release_address
DELETE FROM addresses WHERE place = :place

-- name: list_challenges
SELECT user_id, id, body FROM challenges WHERE place = :place ORDER BY created_at, id

-- name: put_challenge
INSERT INTO challenges (place, id, user_id, created_at, body) VALUES (:place, :id, :user, :created_at, :body)
ON CONFLICT (place, id) DO UPDATE SET body = excluded.body

-- name: drop_challenge
DELETE FROM challenges WHERE place = :place AND id = :id

-- name: plain_addresses
SELECT place FROM addresses WHERE place LIKE '%:%'

-- name: rekey_address
UPDATE addresses SET place = :keyed WHERE place = :place

-- name: drop_plain_challenges
DELETE FROM challenges WHERE place LIKE '%:%'
