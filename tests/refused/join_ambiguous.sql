-- error: the column id is ambiguous; write f.id or g.id
-- at: id
SELECT id FROM flights AS f JOIN flights AS g ON f.origin = g.origin;
