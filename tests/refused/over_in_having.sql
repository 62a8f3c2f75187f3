-- error: OVER cannot stand here: HAVING chooses the groups that it sees; write QUALIFY ROW_NUMBER() OVER (ORDER BY COUNT(*)) = 1
-- at: ROW_NUMBER()
SELECT origin, COUNT(*) AS n FROM flights GROUP BY origin HAVING ROW_NUMBER() OVER (ORDER BY COUNT(*)) = 1;
