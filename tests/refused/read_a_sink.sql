-- error: lines cannot be read: the connector print is only written; read another table
-- at: lines
SELECT word FROM lines;
