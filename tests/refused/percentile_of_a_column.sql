-- error: the fraction of PERCENTILE_DISC is a constant DOUBLE; write PERCENTILE_DISC(0.5) WITHIN GROUP (ORDER BY value)
-- at: delay
SELECT PERCENTILE_DISC(delay) WITHIN GROUP (ORDER BY delay) FROM flights;
