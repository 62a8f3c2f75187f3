-- error: words is created twice; choose another name
-- at: words
CREATE VIEW words AS SELECT id FROM flights;
SELECT * FROM words;
