-- error: there is no column r in flights; r is an alias of the select list, which WHERE does not see: filter what OVER gives: write QUALIFY r <= 3
-- at: r
SELECT id, ROW_NUMBER() OVER (ORDER BY ts) AS r FROM flights WHERE r <= 3;
