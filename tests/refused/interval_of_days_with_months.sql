-- error: INTERVAL DAY TO SECOND > INTERVAL YEAR TO MONTH is not possible; compare values of one type
-- at: INTERVAL '1' DAY > INTERVAL '1' MONTH
SELECT INTERVAL '1' DAY > INTERVAL '1' MONTH AS x FROM flights;
