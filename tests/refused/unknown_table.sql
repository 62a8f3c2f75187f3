-- error: there is no table wordz; did you mean words?
-- at: wordz
SELECT word FROM wordz;
