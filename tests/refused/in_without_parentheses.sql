-- error: IN is followed by a list; put it in parentheses: IN ('a', 'b')
-- at: word IN n
SELECT word FROM words WHERE word IN n;
