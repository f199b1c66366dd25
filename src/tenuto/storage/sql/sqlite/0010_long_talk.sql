-- A context asks for the last weighty messages: along an index, however long the talk.
DROP INDEX messages_important;
CREATE INDEX messages_important ON messages (user_id, at, id) WHERE importance >= 8;
