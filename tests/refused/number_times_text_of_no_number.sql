-- error: VARCHAR * INT is not possible; 'a' is no number: write one
-- at: 'a' * 7
SELECT 'a' * 7 AS x FROM flights;
