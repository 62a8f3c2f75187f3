-- error: RANGE is not a table function; write UNNEST(SEQUENCE(0, 4)) AS s (n)
-- at: RANGE(5)
SELECT * FROM RANGE(5);
