-- error: 3000000000 rows are more than can be counted, 2147483647; write 2147483647, or leave the bound out
-- at: 3000000000
SELECT LAG(id, 3000000000) OVER (ORDER BY id) FROM flights;
