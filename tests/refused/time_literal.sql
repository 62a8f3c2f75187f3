-- error: the type TIME is not supported; write TIMESTAMP '2013-01-31 10:00' with a day, or the text '10:00'
-- at: TIME '10:00'
SELECT TIME '10:00' FROM flights;
