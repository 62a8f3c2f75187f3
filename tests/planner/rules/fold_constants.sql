-- what is true of every row
SELECT a FROM t WHERE 1 = 1 AND a > 1 + 1 AND NOT FALSE;
=>
Sink result (result), append
  Project a
    Filter a > 2
      Watermark ts as ts - 5 seconds, idle after 30 seconds
        Scan t (file)
          (a, b, c, s, tags, ts)

-- a filter that all rows pass
SELECT a FROM t WHERE 1 = 1 OR a > 2;
=>
Sink result (result), append
  Project a
    Watermark ts as ts - 5 seconds, idle after 30 seconds
      Scan t (file)
        (a, b, c, s, tags, ts)

-- of times
SELECT a FROM t WHERE ts >= TIMESTAMP '2013-01-01 00:00:00' + INTERVAL '1' DAY AND ts < CAST('2013-02-01' AS TIMESTAMP(3));
=>
Sink result (result), append
  Project a
    Filter ts >= TIMESTAMP '2013-01-02 00:00:00' AND ts < TIMESTAMP '2013-02-01 00:00:00'
      Watermark ts as ts - 5 seconds, idle after 30 seconds
        Scan t (file)
          (a, b, c, s, tags, ts)

-- what is false of every row, and what is never asked then
SELECT a FROM t WHERE a > 1 AND 1 > 2 AND a / 0 = 1;
=>
Sink result (result), append
  Project a
    Filter a > 1 AND FALSE
      Watermark ts as ts - 5 seconds, idle after 30 seconds
        Scan t (file)
          (a, b, c, s, tags, ts)

-- unknown is not false
SELECT a FROM t WHERE NULL = 1 AND a / 0 = 1;
=>
Sink result (result), append
  Project a
    Filter NULL AND a / 0 = 1
      Watermark ts as ts - 5 seconds, idle after 30 seconds
        Scan t (file)
          (a, b, c, s, tags, ts)

-- what fails goes on failing, each row
SELECT a, 1 / 0 AS never, CAST('x' AS INT) AS nor, 9223372036854775807 + 1 AS big FROM t WHERE a > 1 / 0;
=>
Sink result (result), append
  Project a, 1 / 0 as never, CAST('x' AS INT) as nor, 9223372036854775807 + 1 as big
    Filter CAST(a AS BIGINT) > 1 / 0
      Watermark ts as ts - 5 seconds, idle after 30 seconds
        Scan t (file)
          (a, b, c, s, tags, ts)

-- values of each type
SELECT 7 / 2 AS whole, 7 / 2e0 AS half, 1.5 * 2.25 AS exact, -1 AS minus, CAST('12' AS SMALLINT) AS small, TRY_CAST('x' AS INT) AS nothing, DATE '2013-01-31' + INTERVAL '1' MONTH AS later,
  TO_TIMESTAMP_LTZ(1000, 3) AS instant, INTERVAL '1' HOUR - INTERVAL '1' MINUTE AS span, LENGTH(UPPER('abc')) AS n, UPPER('abc') AS text, CASE WHEN 1 > 2 THEN 1 ELSE 2 END AS chosen FROM t;
=>
Sink result (result), append
  Project 3 as whole, 3.5 as half, 3.375 as exact, -1 as minus, 12 as small, NULL as nothing, DATE '2013-02-28' as later, TIMESTAMP '1970-01-01 00:00:01' as instant, 59 minutes as span, 3 as n, UPPER('abc') as text, 2 as chosen
    Watermark ts as ts - 5 seconds, idle after 30 seconds
      Scan t (file)
        (a, b, c, s, tags, ts)

-- a failure before TRUE is one
SELECT a FROM t WHERE a / 0 = 1 OR TRUE;
=>
Sink result (result), append
  Project a
    Filter a / 0 = 1 OR TRUE
      Watermark ts as ts - 5 seconds, idle after 30 seconds
        Scan t (file)
          (a, b, c, s, tags, ts)
