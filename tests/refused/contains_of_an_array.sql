-- error: CONTAINS does not take (ARRAY<VARCHAR>, VARCHAR); write ARRAY_CONTAINS(tags, 'red')
-- at: CONTAINS(tags, 'red')
SELECT id FROM flights WHERE CONTAINS(tags, 'red');
