-- error: BIGINT cannot be cast to TIMESTAMP(6); write TO_TIMESTAMP_LTZ(id, 0) of seconds, with 3 of milliseconds
-- at: CAST(id AS TIMESTAMP)
SELECT CAST(id AS TIMESTAMP) AS t FROM flights;
