-- error: a text that begins with N' is not supported; leave the N out
-- at: N'origin'
SELECT N'origin' AS x FROM flights;
