-- error: lines cannot be read: the connector print is only written; read what it is written from, or a file that it was exported to, or a log of its changes ('format' = 'debezium-json')
-- at: lines
SELECT word FROM lines;
