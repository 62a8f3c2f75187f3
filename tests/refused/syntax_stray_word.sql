-- error: word does not belong here; see docs/sql.md for what a query may hold
-- at: word
SELECT word FROM words GROUP word;
