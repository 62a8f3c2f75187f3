-- error: LIMIT here is not supported; write SLICE(ARRAY_AGG(value ORDER BY time), 1, n), or FIRST_VALUE(value ORDER BY time)
-- at: carrier ORDER BY ts DESC LIMIT 1
SELECT origin, ARRAY_AGG(carrier ORDER BY ts DESC LIMIT 1) AS c FROM flights GROUP BY origin;
