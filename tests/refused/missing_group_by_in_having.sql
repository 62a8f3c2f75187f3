-- error: delay is neither in GROUP BY nor inside an aggregate; add delay to GROUP BY origin, or aggregate it: MAX(delay)
-- at: delay
SELECT origin FROM flights GROUP BY origin HAVING delay > 3;
