-- error: there is no function STRUCT; write ROW(id, carrier)
-- at: STRUCT(id AS id, carrier AS line)
SELECT STRUCT(id AS id, carrier AS line) AS s FROM flights;
