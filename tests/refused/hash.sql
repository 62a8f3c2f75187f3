-- error: there is no function HASH; write MD5(text)
-- at: HASH(origin)
SELECT HASH(origin) FROM flights;
