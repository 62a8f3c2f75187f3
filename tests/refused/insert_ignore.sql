-- error: INSERT IGNORE is not supported: write INSERT INTO, and SELECT DISTINCT for each row once
-- at: INSERT IGNORE
INSERT IGNORE INTO counts SELECT word, n FROM words;
