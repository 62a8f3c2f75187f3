-- error: EXTRACT knows no EPOCH; write UNIX_SECONDS(t)
-- at: EXTRACT(EPOCH FROM ts)
SELECT EXTRACT(EPOCH FROM ts) AS t FROM flights;
