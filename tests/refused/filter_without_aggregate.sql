-- error: FILTER belongs to an aggregate; write CASE WHEN
-- at: UPPER(origin)
SELECT UPPER(origin) FILTER (WHERE late) FROM flights;
