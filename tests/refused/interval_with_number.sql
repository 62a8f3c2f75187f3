-- error: INTERVAL DAY TO SECOND > INT is not possible; compare values of one type
-- at: INTERVAL '1' DAY > 3
SELECT INTERVAL '1' DAY > 3 AS x FROM flights;
