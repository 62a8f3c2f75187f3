-- error: the index of an array is an INT, and this is BIGINT; write CAST(id + 1 AS INT)
-- at: id + 1
SELECT tags[id + 1] FROM flights;
