-- Two columns of one name: the second gets a number; an expression without alias is called as Flink calls it.
SELECT w.*, word, n + 1, w.n AS "Total n" FROM words AS w;
