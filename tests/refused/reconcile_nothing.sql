-- error: nothing before this writes words; write RECONCILE after the INSERT INTO or the SELECT
-- at: words
RECONCILE words;
