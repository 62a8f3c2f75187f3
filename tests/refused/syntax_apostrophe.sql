-- error: a name or a number follows this text at once; write '' for each ' in it, or close it earlier
-- at: 'it'
SELECT 'it's late' AS remark FROM flights;
