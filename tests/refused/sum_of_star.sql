-- error: SUM needs a value; write SUM(column)
-- at: SUM(*)
SELECT SUM(*) FROM flights;
