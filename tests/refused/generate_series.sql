-- error: GENERATE_SERIES is not a table function; write UNNEST(SEQUENCE(1, 3)) AS s (n)
-- at: GENERATE_SERIES(1, 3)
SELECT n FROM GENERATE_SERIES(1, 3) AS s (n);
