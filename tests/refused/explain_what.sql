-- error: EXPLAIN shows no COST; write LOGICAL, TOPOLOGY, STATE, PACKING, JSON or nothing
-- at: COST
EXPLAIN COST SELECT word FROM words;
