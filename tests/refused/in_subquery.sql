-- error: IN (SELECT ...) is not supported here; write it as a condition of WHERE, alone or between ANDs; for NOT IN, LEFT ANTI JOIN ... ON
-- at: origin
SELECT id FROM flights WHERE origin NOT IN (SELECT word FROM words);
