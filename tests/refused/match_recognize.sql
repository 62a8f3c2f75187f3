-- error: MATCH_RECOGNIZE is not supported: compare a row with that before by LAG(...) OVER (PARTITION BY ... ORDER BY ts)
-- at: MATCH_RECOGNIZE
SELECT * FROM flights MATCH_RECOGNIZE (PARTITION BY origin);
