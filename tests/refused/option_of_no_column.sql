-- error: the option 'fields.nn.kind' is of no column; did you mean n?
-- at: 'fields.nn.kind' = 'sequence'
CREATE TABLE t (n BIGINT, word VARCHAR) WITH ('connector' = 'datagen', 'rows' = '3', 'fields.nn.kind' = 'sequence');
SELECT n FROM t;
