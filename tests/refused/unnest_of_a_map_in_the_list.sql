-- error: UNNEST of several columns in a select list is not supported; write CROSS JOIN UNNEST(...) AS u, and select its columns
-- at: UNNEST(notes)
SELECT UNNEST(notes) FROM flights;
