-- error: the fraction of PERCENTILE_CONT is from 0 to 1; write 0.95 for 95 %
-- at: 95
SELECT PERCENTILE_CONT(95) WITHIN GROUP (ORDER BY delay) FROM flights;
