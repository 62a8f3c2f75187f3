-- error: there is no column delay in words, and a subquery compares with the delay of the query around in its WHERE alone; there are word, n
-- at: delay
SELECT id FROM flights WHERE delay IN (SELECT delay FROM words WHERE word = 'a');
