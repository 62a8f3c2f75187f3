-- error: ARRAY<MAP<VARCHAR, INT>> < ARRAY<MAP<VARCHAR, INT>> is not possible; a MAP in it has no order: compare what it has: a.x < b.x, a[1] < b[1]
-- at: ARRAY[MAP['a', 1]] < ARRAY[MAP['a', 2]]
SELECT id FROM flights WHERE ARRAY[MAP['a', 1]] < ARRAY[MAP['a', 2]];
