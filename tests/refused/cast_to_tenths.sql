-- error: CAST to TIMESTAMP(1) is not supported; write TIMESTAMP(0), (3) or (6)
-- at: CAST(ts AS TIMESTAMP(1))
SELECT CAST(ts AS TIMESTAMP(1)) AS t FROM flights;
