-- error: ANY (SELECT ...) is not supported; write value IN (SELECT ...), or compare with (SELECT MIN(...))
-- at: n FROM words
SELECT id FROM flights WHERE delay > ANY (SELECT n FROM words);
