-- error: busy is a view and takes no rows; INSERT INTO a table
-- at: busy
CREATE VIEW busy AS SELECT word FROM words;
INSERT INTO busy SELECT word FROM words;
