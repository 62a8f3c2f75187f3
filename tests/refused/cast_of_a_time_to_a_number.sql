-- error: TIMESTAMP(6) cannot be cast to BIGINT; write UNIX_SECONDS(ts), or UNIX_MILLIS(ts)
-- at: CAST(ts AS BIGINT)
SELECT CAST(ts AS BIGINT) AS t FROM flights;
