-- error: PIVOT is not supported: write SELECT, with an aggregate for each value: SUM(x) FILTER (WHERE k = 'a') AS a
-- at: PIVOT
PIVOT flights ON origin USING SUM(delay);
