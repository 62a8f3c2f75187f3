-- error: ON EMPTY and ON ERROR are not supported: JSON_EXISTS gives FALSE where the text is not JSON; leave it out, and write JSON_EXISTS(text, path) OR NOT JSON_EXISTS(text, '$') for TRUE
-- at: TRUE ON ERROR
SELECT JSON_EXISTS(origin, '$.a' TRUE ON ERROR) AS x FROM flights;
