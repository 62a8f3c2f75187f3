-- error: the date pattern 'yyyy-MM-ddTHH:mm' uses T, which is not supported; write 'yyyy-MM-dd''T''HH:mm'
-- at: DATE_FORMAT(ts, 'yyyy-MM-ddTHH:mm')
SELECT DATE_FORMAT(ts, 'yyyy-MM-ddTHH:mm') FROM flights;
