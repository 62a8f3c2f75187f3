-- error: there is no table totals; write CREATE TABLE totals (...) WITH ('connector' = ...) before it
-- at: totals
INSERT INTO totals SELECT word, COUNT(*) FROM words GROUP BY word;
