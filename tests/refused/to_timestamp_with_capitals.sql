-- error: the date pattern 'YYYY-MM-DD HH24:MI:SS' uses YYYY, which is not supported; write 'yyyy-MM-dd HH:mm:ss'
-- at: TO_TIMESTAMP(origin, 'YYYY-MM-DD HH24:MI:SS')
SELECT TO_TIMESTAMP(origin, 'YYYY-MM-DD HH24:MI:SS') AS time FROM flights;
