-- error: there is no function SOUNDEX; SHOW FUNCTIONS lists those that there are
-- at: SOUNDEX(origin)
SELECT SOUNDEX(origin) FROM flights;
