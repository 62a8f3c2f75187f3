-- error: a result is shown in the order of its own columns; select what it is ordered by, or add LIMIT
-- at: delay
SELECT id FROM flights ORDER BY delay;
