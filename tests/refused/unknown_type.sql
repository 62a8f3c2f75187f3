-- error: there is no type INTT; did you mean INT?
-- at: INTT
SELECT CAST(delay AS INTT) FROM flights;
