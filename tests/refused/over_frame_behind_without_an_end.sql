-- error: this frame ends before it begins, so it holds no row; write the earlier bound first: BETWEEN CURRENT ROW AND 3 FOLLOWING
-- at: ROWS 3 FOLLOWING
SELECT SUM(delay) OVER (ORDER BY id ROWS 3 FOLLOWING) FROM flights;
