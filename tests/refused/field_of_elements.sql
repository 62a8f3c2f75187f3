-- error: tags is ARRAY<VARCHAR> and has no field first; write tags[1]
-- at: first
SELECT tags.first FROM flights;
