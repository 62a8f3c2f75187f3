-- ROW_NUMBER in a subquery, whose number nobody reads above
SELECT a, b FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY a ORDER BY b DESC) AS place FROM t) AS o WHERE place <= 3 AND s = 'x';
=>
Sink result (result), retract
  Project a, b
    Filter s = 'x'
      TopN row_number <= 3 (PARTITION BY a ORDER BY b DESC ties by c, s, tags, ts) AS place
        Watermark ts as ts - 5 seconds, idle after 30 seconds
          Scan t (file)
            (a, b, c, s, tags, ts)

-- RANK in QUALIFY, the other way round
SELECT x FROM u QUALIFY 1 = RANK() OVER (PARTITION BY y ORDER BY x);
=>
Sink result (result), retract
  Project x
    TopN rank <= 1 (PARTITION BY y ORDER BY x) AS $over0
      Scan u (file)
        (x, y)

-- a place that is not the first: what is below it is kept as well
SELECT x FROM u QUALIFY DENSE_RANK() OVER (ORDER BY x) = 2;
=>
Sink result (result), retract
  Project x
    Filter $over0 = 2
      TopN dense_rank <= 2 (ORDER BY x) AS $over0
        Scan u (file)
          (x, y)

-- what else is computed of the partition needs its rows
SELECT x, SUM(x) OVER w AS total FROM u QUALIFY ROW_NUMBER() OVER w = 1 WINDOW w AS (PARTITION BY y ORDER BY x);
=>
Sink result (result), retract
  Project x, total
    Filter $over1 = 1
      Over (PARTITION BY y ORDER BY x): sum(x) AS total, row_number() AS $over1
        Scan u (file)
          (x, y)

-- in time order rows wait for the watermark, and nothing is kept but a number
SELECT a FROM t QUALIFY ROW_NUMBER() OVER (PARTITION BY a ORDER BY ts) = 1;
=>
Sink result (result), append
  Project a
    Filter $over0 = 1
      Over (PARTITION BY a ORDER BY ts ties by b, c, s, tags): row_number() AS $over0; emit AFTER WATERMARK passes ts
        Watermark ts as ts - 5 seconds, idle after 30 seconds
          Scan t (file)
            (a, b, c, s, tags, ts)
