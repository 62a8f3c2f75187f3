-- error: OR does not belong here; see docs/sql.md for what a query may hold
-- at: OR
SELECT word FROM words WHERE n BETWEEN 1 OR 2;
