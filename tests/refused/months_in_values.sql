-- error: a column of INTERVAL YEAR TO MONTH is not supported; add it to a time, as ts + INTERVAL '1' MONTH, or select the months as a number
-- at: INTERVAL '1' MONTH
SELECT * FROM (VALUES (1, INTERVAL '1' MONTH)) AS t (n, span);
