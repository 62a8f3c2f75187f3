-- error: a RANGE of this kind does not fit DOUBLE; order by a whole number: CAST(value AS BIGINT)
-- at: RANGE 2 PRECEDING
SELECT SUM(delay) OVER (ORDER BY distance RANGE 2 PRECEDING) FROM flights;
