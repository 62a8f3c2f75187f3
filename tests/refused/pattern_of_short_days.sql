-- error: the date pattern 'd.M.yy' uses d, which is not supported; write CAST(REGEXP_REPLACE(origin, '^(\d{1,2})\.(\d{1,2})\.(\d{2})$', '20$3-$2-$1') AS DATE)
-- at: TO_DATE(origin, 'd.M.yy')
SELECT TO_DATE(origin, 'd.M.yy') FROM flights;
