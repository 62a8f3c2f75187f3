-- error: the branches of CASE are of different types: VARCHAR and INT; write '0' or CAST(0 AS VARCHAR)
-- at: 0
SELECT CASE WHEN late THEN origin ELSE 0 END FROM flights;
