-- The columns meet in their common types and take the first query's names.
SELECT origin AS place, delay FROM flights UNION ALL SELECT word, n FROM words UNION ALL (SELECT 'none', 0.5 FROM words);
