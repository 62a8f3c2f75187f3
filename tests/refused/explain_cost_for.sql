-- error: EXPLAIN shows no COST; write LOGICAL, TOPOLOGY, STATE, PACKING, JSON or nothing
-- at: COST FOR
EXPLAIN COST FOR SELECT word FROM words;
