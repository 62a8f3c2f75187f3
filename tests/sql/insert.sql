CREATE VIEW busy AS SELECT origin, COUNT(*) AS n FROM flights GROUP BY origin;
INSERT INTO counts SELECT * FROM busy;
INSERT INTO lines (n, word) SELECT delay, origin FROM flights;
INSERT INTO lines (word) SELECT origin FROM busy;
