-- A context asks for the pins, the most important memories, those of the operator or a confirmed user, those that may be
-- brought up, and the newest: each a walk along an index, however much is known.
CREATE INDEX memories_importance ON memories (user_id, importance, id);
CREATE INDEX memories_trust ON memories (user_id, trust, importance, id);
CREATE INDEX memories_offered ON memories (user_id, proactive_use, importance, id);
CREATE INDEX memories_created ON memories (user_id, created_at, id);
DROP INDEX memories_pinned;
CREATE INDEX memories_pinned ON memories (user_id, pinned, importance, id);
