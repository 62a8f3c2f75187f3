-- error: in the LIKE pattern 'x!y' an escape stands before what needs none; write it twice to mean itself, and else before %, _ or itself
-- at: origin LIKE 'x!y'
SELECT id FROM flights WHERE origin LIKE 'x!y' ESCAPE '!';
