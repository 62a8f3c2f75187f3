-- error: there is no function MONTHS_BETWEEN; write TIMESTAMPDIFF(MONTH, MIN(ts), MAX(ts))
-- at: MONTHS_BETWEEN(MAX(ts), MIN(ts))
SELECT MONTHS_BETWEEN(MAX(ts), MIN(ts)) AS months FROM flights;
