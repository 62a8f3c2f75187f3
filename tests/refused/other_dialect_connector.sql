-- error: there is no connector 'filesystem'; write 'file'
-- at: 'connector' = 'filesystem'
CREATE TABLE x (id BIGINT) WITH ('connector' = 'filesystem', 'path' = 'x'); SELECT * FROM x;
