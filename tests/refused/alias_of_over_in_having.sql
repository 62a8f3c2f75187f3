-- error: there is no column rn in flights; rn is an alias of the select list, which HAVING does not see: filter what OVER gives: write QUALIFY rn = 1
-- at: rn
SELECT id, ROW_NUMBER() OVER (PARTITION BY origin ORDER BY ts) AS rn FROM flights HAVING rn = 1;
