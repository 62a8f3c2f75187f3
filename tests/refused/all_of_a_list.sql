-- error: there is no function ALL; write value > GREATEST(a, b), or NOT ARRAY_CONTAINS(array, value) of an array
-- at: ALL
SELECT id FROM flights WHERE delay > ALL (10, 20);
