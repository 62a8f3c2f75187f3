-- error: WITH names T twice; give one of them another name
-- at: T
WITH t AS (SELECT id FROM flights), T AS (SELECT origin FROM flights) SELECT * FROM t;
