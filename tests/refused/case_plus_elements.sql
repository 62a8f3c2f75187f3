-- error: VARCHAR + VARCHAR is not possible; write CASE WHEN late THEN 'late' END || tags[1]
-- at: CASE WHEN late THEN 'late' END + tags[1]
SELECT CASE WHEN late THEN 'late' END + tags[1] AS state FROM flights;
