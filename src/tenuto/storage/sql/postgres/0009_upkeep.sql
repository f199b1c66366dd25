-- More of what is asked again and again: a persona's open sessions with every message, the people who are named most with
-- every close, what was made of a message or of a stretch of messages when it is purged.
CREATE INDEX sessions_status ON sessions (user_id, persona, status, last_activity_at);
CREATE INDEX entities_mentions ON entities (user_id, mentions);
CREATE INDEX entities_type ON entities (user_id, type, mentions);
CREATE INDEX key_points_message ON key_points (user_id, message_id);
CREATE INDEX summaries_seq ON summaries (user_id, end_seq);
