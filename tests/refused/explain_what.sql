-- error: COST does not belong here; expected ( or INSERT or JSON or LOGICAL or PACKING or SELECT or TOPOLOGY or VALUES or WITH
-- at: COST
EXPLAIN COST SELECT word FROM words;
