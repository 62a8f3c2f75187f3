-- error: a value of the elements of a row's array that is no COUNT, MIN or MAX is not supported; write UNNEST in the FROM of the query around, and group that by a key of the row
-- at: SUM(minutes)
SELECT (SELECT SUM(minutes) FROM UNNEST(legs) AS l) AS m FROM flights;
