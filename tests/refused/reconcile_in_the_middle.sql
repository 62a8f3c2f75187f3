-- error: nothing comes after RECONCILE but another one; move it before RECONCILE
-- at: SELECT
INSERT INTO lines SELECT word, n FROM words;
RECONCILE lines;
SELECT word FROM words;
