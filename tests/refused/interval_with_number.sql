-- error: INTERVAL DAY TO SECOND > INT is not possible; say what the number counts: write INTERVAL '3' MINUTE
-- at: INTERVAL '1' DAY > 3
SELECT INTERVAL '1' DAY > 3 AS x FROM flights;
