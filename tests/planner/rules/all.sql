-- flights by day
SELECT window_start, s, COUNT(*) AS n, AVG(c) AS mean FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' DAY)) WHERE a > 1 GROUP BY window_start, window_end, s;
=>
Sink result (result), append
  Project window_start, s, n, mean
    FinalAggregate COUNT(*) as n, AVG(c) as mean by window_start, window_end, s; emit after watermark
      PartialAggregate COUNT(*) as n, AVG(c) as mean by window_start, window_end, s
        Project window_start, window_end, s, c
          AssignWindow TUMBLE of 1 day on ts
            Watermark ts as ts - 5 seconds, idle after 30 seconds
              Scan t (file) where a > 1
                (a, c, s, ts)

-- words
SELECT word, COUNT(*) AS n FROM t CROSS JOIN UNNEST(tags) AS x (word) WHERE word <> '' GROUP BY word;
=>
Sink result (result), retract
  Aggregate COUNT(*) as n by word; emit changes
    Project word
      Filter word <> ''
        Unnest tags as word
          Scan t (file)
            (tags)

-- the whole table twice
SELECT a, COUNT(*) AS n FROM (SELECT a, s FROM t UNION ALL SELECT x, y FROM u WHERE y = 'q') AS q GROUP BY a;
=>
Sink result (result), retract
  Aggregate COUNT(*) as n by a; emit changes
    Union all rows of 2 inputs
      Scan t (file)
        (a)
      Project x as a
        Scan u (file) where y = 'q'
          (x, y)

-- a stream and itself
SELECT a FROM t UNION ALL SELECT a FROM t;
=>
Sink result (result), append
  Union all rows of 2 inputs
    Scan t (file)
      (a)
    Project a
      ^ Scan t (file)
