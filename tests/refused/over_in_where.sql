-- error: OVER cannot stand here: WHERE chooses the rows that it sees; write QUALIFY ROW_NUMBER() OVER (PARTITION BY origin ORDER BY delay) = 1
-- at: ROW_NUMBER()
SELECT id FROM flights WHERE ROW_NUMBER() OVER (PARTITION BY origin ORDER BY delay) = 1;
