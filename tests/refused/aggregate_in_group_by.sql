-- error: n is COUNT(*): GROUP BY takes what is computed from single rows; leave it out of GROUP BY
-- at: n
SELECT COUNT(*) AS n FROM flights GROUP BY n;
