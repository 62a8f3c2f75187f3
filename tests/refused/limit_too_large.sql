-- error: 9223372036854775808 rows are more than can be counted, 2147483647; write 2147483647, or leave the bound out
-- at: 9223372036854775808
SELECT id FROM flights ORDER BY id LIMIT 10 OFFSET 9223372036854775808;
