-- What the upkeep of time asks for again and again stays cheap however long the history is: the current version of a
-- summary, how far topics have come, the next messages and last sessions of one persona, the most important memories.
CREATE INDEX summaries_version ON summaries (user_id, kind, "current", version);
CREATE INDEX summaries_of_session ON summaries (user_id, session_id, kind, version);
CREATE INDEX summaries_end ON summaries (user_id, kind, persona, end_seq);
CREATE INDEX messages_persona ON messages (user_id, persona, seq);
CREATE INDEX messages_of_session ON messages (user_id, session_id, seq);
CREATE INDEX sessions_persona ON sessions (user_id, persona, last_activity_at);
CREATE INDEX memories_status ON memories (user_id, status, importance);
CREATE INDEX memories_domain ON memories (user_id, domain, importance);
