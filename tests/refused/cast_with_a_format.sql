-- error: FORMAT in a CAST is not supported; write DATE_FORMAT(time, 'yyyy-MM')
-- at: FORMAT 'YYYY-MM'
SELECT CAST(ts AS STRING FORMAT 'YYYY-MM') AS month FROM flights;
