-- error: a subquery inside an aggregate, or in a key of GROUP BY beside aggregates, is not supported; compute it in the select list of a subquery of FROM, or count the rows WHERE EXISTS (SELECT ...)
-- at: 1 FROM words AS w WHERE w.word = f.origin
SELECT COUNT_IF(EXISTS (SELECT 1 FROM words AS w WHERE w.word = f.origin)) AS n FROM flights AS f;
