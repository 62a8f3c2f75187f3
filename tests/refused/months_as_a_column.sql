-- error: a column of INTERVAL YEAR TO MONTH is not supported; add it to a time, as ts + INTERVAL '1' MONTH, or select the months as a number
-- at: INTERVAL '1-6' YEAR TO MONTH
SELECT id, INTERVAL '1-6' YEAR TO MONTH AS span FROM flights;
