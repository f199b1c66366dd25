-- The last records of a kind, such as what the last sessions left open, without looking at all of them.
CREATE INDEX summaries_current ON summaries (user_id, kind, "current", created_at);
