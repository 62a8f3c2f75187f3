-- every branch under the first one's names
SELECT a, s FROM t UNION ALL SELECT x, y FROM u;
=>
Sink result (result), append
  Union all rows of 2 inputs
    Project a, s
      Watermark ts as ts - 5 seconds, idle after 30 seconds
        Scan t (file)
          (a, b, c, s, tags, ts)
    Project x as a, y as s
      Scan u (file)
        (x, y)
