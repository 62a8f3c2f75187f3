-- error: DROP is not supported: a file of SQL starts without tables
-- at: DROP
DROP TABLE words;
