-- error: USING does not belong here; write CREATE TABLE o2 WITH ('connector' = 'file', 'path' = 'x.json', 'format' = 'json', 'bad.record' = 'skip')
-- at: USING
CREATE TABLE o2 USING json OPTIONS (path 'x.json', mode 'PERMISSIVE');
SELECT id FROM o2;
