-- error: this frame ends before it begins, so it holds no row; write the earlier bound first: BETWEEN 2 PRECEDING AND CURRENT ROW
-- at: ROWS BETWEEN CURRENT ROW AND 2 PRECEDING
SELECT SUM(delay) OVER (ORDER BY id ROWS BETWEEN CURRENT ROW AND 2 PRECEDING) FROM flights;
