-- error: the date pattern 'yyyy-MM-dd'T'HH:mm:ssXXX' uses XXX, which is not supported; write CAST(origin AS TIMESTAMP_LTZ), which reads texts with an offset
-- at: TO_TIMESTAMP(origin, 'yyyy-MM-dd''T''HH:mm:ssXXX')
SELECT TO_TIMESTAMP(origin, 'yyyy-MM-dd''T''HH:mm:ssXXX') FROM flights;
