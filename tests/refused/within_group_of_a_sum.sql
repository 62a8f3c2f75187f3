-- error: WITHIN GROUP means nothing to SUM; write SUM(value)
-- at: SUM(delay) WITHIN GROUP (ORDER BY delay)
SELECT SUM(delay) WITHIN GROUP (ORDER BY delay) FROM flights;
