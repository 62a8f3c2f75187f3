-- error: a join FOR SYSTEM_TIME AS OF takes equalities, and this condition is another; write ON a.k = b.k, and the condition in WHERE
-- at: w.delay > 20
SELECT f.id FROM flights AS f JOIN flights FOR SYSTEM_TIME AS OF f.ts AS w ON w.delay > 20;
