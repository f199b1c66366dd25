-- A SQLite file has no roles: whoever can open it can read all of it. The number keeps both dialects in step.
SELECT 1;
