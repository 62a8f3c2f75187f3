-- error: CREATE SINK is not supported: write CREATE TABLE out WITH ('connector' = 'file', 'path' = 'totals', 'format' = 'csv') AS SELECT id FROM flights WHERE delay > 1
-- at: CREATE SINK
CREATE SINK out AS SELECT id FROM flights WHERE delay > 1 WITH (connector = 'file', path = 'totals', format = 'csv');
