-- error: FORMAT does not belong here; the format is an option of WITH: 'format' = 'json'
-- at: FORMAT
CREATE TABLE x (id BIGINT) WITH ('connector' = 'file', 'path' = 'x') FORMAT PLAIN ENCODE JSON; SELECT * FROM x;
