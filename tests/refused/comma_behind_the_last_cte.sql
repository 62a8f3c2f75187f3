-- error: nothing follows this comma; remove it
-- at: ,
WITH late_ones AS (SELECT origin FROM flights WHERE late),
SELECT origin FROM late_ones;
