-- error: the branches of CASE are of different types: VARCHAR and INT; CAST one of them
-- at: 0
SELECT CASE WHEN late THEN origin ELSE 0 END FROM flights;
