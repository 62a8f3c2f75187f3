-- error: the query has a row for each n too, which PRIMARY KEY (word) of counts does not tell apart; leave n out of GROUP BY, or give counts a column for it in its PRIMARY KEY
-- at: counts
INSERT INTO counts SELECT word, COUNT(*) AS n FROM words GROUP BY word, n;
