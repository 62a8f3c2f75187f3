-- error: this frame ends before it begins; write the earlier bound first
-- at: ROWS BETWEEN CURRENT ROW AND 2 PRECEDING
SELECT SUM(delay) OVER (ORDER BY id ROWS BETWEEN CURRENT ROW AND 2 PRECEDING) FROM flights;
