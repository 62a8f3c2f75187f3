-- error: rows that are equal but for notes, a MAP<VARCHAR, VARCHAR>, have no order; leave it out, or take a value out of it: notes['key']
-- at: id
SELECT id, notes FROM flights ORDER BY id LIMIT 3;
