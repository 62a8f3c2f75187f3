-- error: MAPJOIN(w) is not supported: each task would read it whole, and it is the result of a query that sees several rows at once; leave the hint out, and rows of both tables go to the task of their key
-- at: w
SELECT /*+ MAPJOIN(w) */ f.id FROM flights AS f JOIN (SELECT DISTINCT word FROM words) AS w ON f.origin = w.word;
