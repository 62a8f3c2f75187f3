-- error: the view names 2 columns and its query gives 1; name as many: word
-- at: b
CREATE VIEW v (a, b) AS SELECT word FROM words;
SELECT a FROM v;
