-- error: there is no function TO_CHAR; write DATE_FORMAT(ts, 'yyyy-MM-dd HH:mm')
-- at: to_char(ts, 'YYYY-MM-DD HH24:MI')
SELECT to_char(ts, 'YYYY-MM-DD HH24:MI') AS minute FROM flights;
