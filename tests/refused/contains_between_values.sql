-- error: CONTAINS is not supported; write origin LIKE '%JF%'
-- at: CONTAINS
SELECT origin FROM flights WHERE origin CONTAINS 'JF';
