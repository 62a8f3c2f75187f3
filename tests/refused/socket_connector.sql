-- error: there is no connector 'socket': what has come of one cannot be read again after a crash; write it to a file that is read with 'follow' = 'true', or into Kafka
-- at: 'connector' = 'socket'
CREATE TABLE x (line VARCHAR) WITH ('connector' = 'socket', 'host' = 'localhost', 'port' = '9999');
SELECT * FROM x;
