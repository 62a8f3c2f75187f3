-- one projection for two
SELECT big || '!' AS shout FROM (SELECT UPPER(s) AS big FROM t) AS q;
=>
Sink result (result), append
  Project CONCAT(UPPER(s), '!') as shout
    Watermark ts as ts - 5 seconds, idle after 30 seconds
      Scan t (file)
        (a, b, c, s, tags, ts)

-- not when something would be computed twice
SELECT big || big AS twice FROM (SELECT UPPER(s) AS big FROM t) AS q;
=>
Sink result (result), append
  Project CONCAT(big, big) as twice
    Project UPPER(s) as big
      Watermark ts as ts - 5 seconds, idle after 30 seconds
        Scan t (file)
          (a, b, c, s, tags, ts)

-- a column costs nothing, however often it is read
SELECT z + z AS twice FROM (SELECT a AS z FROM t) AS q;
=>
Sink result (result), append
  Project a + a as twice
    Watermark ts as ts - 5 seconds, idle after 30 seconds
      Scan t (file)
        (a, b, c, s, tags, ts)

-- adjacent filters, the lower one first
SELECT a FROM (SELECT * FROM (SELECT * FROM k) AS p WHERE 10 / a > 2) AS q WHERE a > 1;
=>
Sink result (result), append
  Project a
    Filter 10 / a > 2 AND a > 1
      Scan k (kafka)
        (a, s)
