-- error: EXTRACT knows no EPOCH; write UNIX_SECONDS(ts)
-- at: EXTRACT(EPOCH FROM ts)
SELECT EXTRACT(EPOCH FROM ts) AS t FROM flights;
