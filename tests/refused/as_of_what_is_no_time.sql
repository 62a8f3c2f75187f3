-- error: id is BIGINT, and a table is joined as of a TIMESTAMP; write the time of the row: FOR SYSTEM_TIME AS OF ts
-- at: f.id
SELECT f.id, g.delay FROM flights AS f JOIN flights FOR SYSTEM_TIME AS OF f.id AS g ON f.origin = g.origin;
