-- error: ON EMPTY and ON ERROR are not supported: JSON_VALUE gives NULL where there is no value or it cannot be read; leave it out, and write COALESCE(JSON_VALUE(text, path), value) for another value than NULL
-- at: 0 ON EMPTY
SELECT JSON_VALUE(origin, '$.a' RETURNING INT DEFAULT 0 ON EMPTY) AS x FROM flights;
