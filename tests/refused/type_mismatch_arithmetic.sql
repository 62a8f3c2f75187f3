-- error: VARCHAR + INT is not possible; CAST one of them, for example CAST(origin AS INT)
-- at: origin + 1
SELECT origin + 1 FROM flights;
