-- error: there is no column delay in the result; there is id
-- at: delay
SELECT id FROM flights UNION ALL SELECT n FROM words ORDER BY delay LIMIT 3;
