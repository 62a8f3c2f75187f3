-- error: there is no function COLLECT_SET; write COLLECT_LIST(DISTINCT dest)
-- at: COLLECT_SET(dest)
SELECT carrier, COLLECT_SET(dest) FROM flights GROUP BY carrier;
