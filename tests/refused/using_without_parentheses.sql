-- error: USING does not belong here; see docs/sql.md for what a query may hold
-- at: USING
SELECT a.id FROM flights AS a JOIN flights AS b USING origin;
