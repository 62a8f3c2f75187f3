-- error: this SELECT reads nothing; add FROM: a topology reads a table
-- at: 1
SELECT 1;
