-- error: NOT takes BOOLEAN, not NULL; write NOT(CAST(NULL AS BOOLEAN))
-- at: NULL
SELECT NOT NULL AS x FROM flights;
