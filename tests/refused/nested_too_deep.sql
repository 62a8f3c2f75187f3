-- error: this is nested more than 100 levels deep; compute parts of it in views or subqueries of their own, write a long + as SUM over rows, and a long CASE as a JOIN
-- at: (
SELECT id FROM flights WHERE (((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((delay = 1)))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))));
