-- A star without some columns, with others computed anew or renamed; GROUP BY ALL; ORDER BY the number of a column that a star gives.
CREATE VIEW fewer AS SELECT * EXCLUDE (n) REPLACE (UPPER(word) AS word) RENAME (word AS loud) FROM words;

CREATE VIEW sizes AS SELECT f.loud, LENGTH(loud) + 1 AS size, COUNT(*) AS n FROM fewer AS f GROUP BY ALL;

SELECT s.* EXCEPT (loud) FROM sizes AS s ORDER BY 1 DESC, 2, loud LIMIT 3;
