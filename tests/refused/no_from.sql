-- error: this SELECT reads nothing; add FROM: a topology reads a table
-- at: SELECT 1
SELECT 1;
