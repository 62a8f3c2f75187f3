-- error: VALUES puts BOOLEAN above INT; CAST one of them
-- at: 1
SELECT k FROM (VALUES (TRUE), (1)) AS t (k);
