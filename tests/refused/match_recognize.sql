-- error: MATCH_RECOGNIZE is not supported yet
-- at: MATCH_RECOGNIZE
SELECT * FROM flights MATCH_RECOGNIZE (PARTITION BY origin);
