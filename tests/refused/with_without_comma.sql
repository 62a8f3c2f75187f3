-- error: a comma is missing before b; write ), b AS (
-- at: b
WITH a AS (SELECT id FROM flights) b AS (SELECT id FROM flights) SELECT a.id FROM a JOIN b ON a.id = b.id;
