-- error: the date pattern '%Y-%m-%d %H:%i' uses Y, which is not supported; write 'yyyy-MM-dd HH:mm'
-- at: DATE_FORMAT(ts, '%Y-%m-%d %H:%i')
SELECT DATE_FORMAT(ts, '%Y-%m-%d %H:%i') AS minute FROM flights;
