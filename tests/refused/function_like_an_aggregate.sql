-- error: there is no function STRIN_AGG; did you mean STRING_AGG?
-- at: STRIN_AGG(carrier, ',')
SELECT origin, STRIN_AGG(carrier, ',') AS who FROM flights GROUP BY origin;
