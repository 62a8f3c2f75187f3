-- the first of each
SELECT b, a, c FROM t QUALIFY ROW_NUMBER() OVER (PARTITION BY b ORDER BY c DESC) <= 3;
=>
Sink result (result), retract
  Project b, a, c
    TopN row_number <= 3 (PARTITION BY b ORDER BY c DESC ties by a, s, tags, ts) AS $over0
      PartialTopN <= 3 of each batch (PARTITION BY b ORDER BY c DESC ties by a, s, tags, ts)
        Watermark ts as ts - 5 seconds, idle after 30 seconds
          Scan t (file)
            (a, b, c, s, tags, ts)

-- deduplication
SELECT DISTINCT ON (a) a, b FROM t ORDER BY a, ts DESC;
=>
Sink result (result), retract
  Project a, b
    TopN row_number <= 1 (PARTITION BY a ORDER BY $by0 DESC ties by b)
      PartialTopN <= 1 of each batch (PARTITION BY a ORDER BY $by0 DESC ties by b)
        Project a, b, ts as $by0
          Watermark ts as ts - 5 seconds, idle after 30 seconds
            Scan t (file)
              (a, b, c, s, tags, ts)

-- of each branch of a union
SELECT a FROM t UNION ALL SELECT x FROM u ORDER BY a LIMIT 5;
=>
Sink result (result), retract
  TopN row_number <= 5 (ORDER BY a)
    Union all rows of 2 inputs
      PartialTopN <= 5 of each batch (ORDER BY a)
        Project a
          Watermark ts as ts - 5 seconds, idle after 30 seconds
            Scan t (file)
              (a, b, c, s, tags, ts)
      PartialTopN <= 5 of each batch (ORDER BY a)
        Project x as a
          Project x
            Scan u (file)
              (x, y)

-- every row renews the time of its partition
SELECT /*+ STATE_TTL('t'='1d') */ a, b FROM t QUALIFY ROW_NUMBER() OVER (PARTITION BY a ORDER BY c) = 1;
=>
Sink result (result), retract
  Project a, b
    TopN row_number <= 1 (PARTITION BY a, $life ORDER BY c ties by b, s, tags, ts) AS $over0
      Over (PARTITION BY a ORDER BY ts): life(86400000000) AS $life; emit AFTER WATERMARK passes ts
        Watermark ts as ts - 5 seconds, idle after 30 seconds
          Scan t (file)
            (a, b, c, s, tags, ts)

-- what is taken back may bring up any other
SELECT a, n FROM (SELECT a, COUNT(*) AS n FROM t GROUP BY a) AS q QUALIFY ROW_NUMBER() OVER (ORDER BY n DESC) <= 2;
=>
Sink result (result), retract
  Project a, n
    TopN row_number <= 2 (ORDER BY n DESC ties by a) AS $over0
      Aggregate COUNT(*) as n by a; emit changes
        Project a
          Watermark ts as ts - 5 seconds, idle after 30 seconds
            Scan t (file)
              (a, b, c, s, tags, ts)

-- by rank all that are equal to the last stay
SELECT a, c FROM t QUALIFY RANK() OVER (PARTITION BY a ORDER BY c) <= 2;
=>
Sink result (result), retract
  Project a, c
    TopN rank <= 2 (PARTITION BY a ORDER BY c) AS $over0
      Watermark ts as ts - 5 seconds, idle after 30 seconds
        Scan t (file)
          (a, b, c, s, tags, ts)
