-- error: ALL (SELECT ...) is not supported; compare with (SELECT MAX(...)) or (SELECT MIN(...)), or write NOT EXISTS
-- at: n FROM words
SELECT id FROM flights WHERE delay > ALL (SELECT n FROM words);
