-- error: VARCHAR = INT is not possible; CAST one of them, for example CAST(origin AS INT)
-- at: origin = 3
SELECT id FROM flights WHERE origin = 3;
