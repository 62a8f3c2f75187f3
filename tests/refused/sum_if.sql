-- error: there is no function SUMIF; write SUM(delay) FILTER (WHERE late)
-- at: SUMIF(delay, late)
SELECT SUMIF(delay, late) FROM flights;
