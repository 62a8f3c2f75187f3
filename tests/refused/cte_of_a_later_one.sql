-- error: there is no table b; WITH names it further on: write b AS (...) before this query
-- at: b
WITH a AS (SELECT word FROM b), b AS (SELECT word FROM words) SELECT * FROM a;
