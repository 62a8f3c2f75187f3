-- error: there is no column word: this query reads no table; add FROM
-- at: word
SELECT word;
