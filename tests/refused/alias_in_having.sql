-- error: there is no column m in words; m is an alias of the select list, which HAVING does not see: write COUNT(*)
-- at: m
SELECT word, COUNT(*) AS m FROM words GROUP BY word HAVING m > 1;
