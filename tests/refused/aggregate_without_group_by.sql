-- error: origin is neither in GROUP BY nor inside an aggregate; add GROUP BY origin, or aggregate it: MAX(origin)
-- at: origin
SELECT origin, MAX(delay) FROM flights;
