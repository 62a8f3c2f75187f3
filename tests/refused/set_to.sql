-- error: TO does not belong here; write SET 'parallelism' = '4'
-- at: TO
SET parallelism TO 4;
SELECT id FROM flights;
