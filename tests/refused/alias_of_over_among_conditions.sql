-- error: there is no column rn in flights; rn is an alias of the select list, which WHERE does not see: filter what OVER gives: write QUALIFY (delay < 9 OR rn = 1)
-- at: rn
SELECT id, ROW_NUMBER() OVER (PARTITION BY origin ORDER BY ts) AS rn FROM flights WHERE delay > 2 AND (delay < 9 OR rn = 1);
