-- error: ORDER BY takes no MAP<VARCHAR, VARCHAR>: maps have no order; take a value out of it: map['key']
-- at: notes
SELECT id, notes FROM flights ORDER BY notes LIMIT 3;
