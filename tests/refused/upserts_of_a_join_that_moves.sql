-- error: a row of this JOIN is made anew by another task when its n changes, and the old one, taken back late, would delete the new one of the same PRIMARY KEY (word) of counts; declare PRIMARY KEY (word, n) NOT ENFORCED
-- at: counts
INSERT INTO counts SELECT a.word, a.n FROM (SELECT word, COUNT(*) AS n FROM words GROUP BY word) AS a JOIN words AS b ON a.n = b.n;
