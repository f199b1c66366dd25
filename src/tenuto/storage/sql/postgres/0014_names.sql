-- The names that changed since they were last read, without looking at all of them.
CREATE INDEX entities_updated ON entities (user_id, updated_at);
