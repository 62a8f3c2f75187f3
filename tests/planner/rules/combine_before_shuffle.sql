-- in a window
SELECT window_end, a, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' DAY)) GROUP BY window_start, window_end, a;
=>
Sink result (result), append
  Project window_end, a, n
    FinalAggregate COUNT(*) as n by window_start, window_end, a; emit after watermark
      PartialAggregate COUNT(*) as n by window_start, window_end, a
        Project window_start, window_end, a
          AssignWindow TUMBLE of 1 day on ts
            Watermark ts as ts - 5 seconds, idle after 30 seconds
              Scan t (file)
                (a, b, c, s, tags, ts)

-- without keys
SELECT AVG(c) AS mean, MIN(a) AS least FROM t;
=>
Sink result (result), retract
  FinalAggregate AVG(c) as mean, MIN(a) as least; emit changes
    PartialAggregate AVG(c) as mean, MIN(a) as least
      Project c, a
        Watermark ts as ts - 5 seconds, idle after 30 seconds
          Scan t (file)
            (a, b, c, s, tags, ts)

-- a running aggregate by key may have as many groups as rows
SELECT a, COUNT(*) AS n FROM t GROUP BY a;
=>
Sink result (result), retract
  Aggregate COUNT(*) as n by a; emit changes
    Project a
      Watermark ts as ts - 5 seconds, idle after 30 seconds
        Scan t (file)
          (a, b, c, s, tags, ts)

-- unless a hint wants the key split
SELECT /*+ GROUPING('t'='partial-key') */ a, COUNT(*) AS n FROM t GROUP BY a;
=>
Sink result (result), retract
  FinalAggregate COUNT(*) as n by a; emit changes
    PartialAggregate COUNT(*) as n by a
      Project a
        Watermark ts as ts - 5 seconds, idle after 30 seconds
          Scan t (file)
            (a, b, c, s, tags, ts)

-- DISTINCT cannot be merged
SELECT COUNT(DISTINCT a) AS n FROM t;
=>
Sink result (result), retract
  Aggregate COUNT(DISTINCT a) as n; emit changes
    Project a
      Watermark ts as ts - 5 seconds, idle after 30 seconds
        Scan t (file)
          (a, b, c, s, tags, ts)

-- sums of changes can be merged
SELECT SUM(n) AS total FROM (SELECT a, COUNT(*) AS n FROM t GROUP BY a) AS q;
=>
Sink result (result), retract
  FinalAggregate SUM(n) as total; emit changes
    PartialAggregate SUM(n) as total
      Project n
        Aggregate COUNT(*) as n by a; emit changes
          Project a
            Watermark ts as ts - 5 seconds, idle after 30 seconds
              Scan t (file)
                (a, b, c, s, tags, ts)

-- the largest of changes cannot
SELECT MAX(n) AS most FROM (SELECT a, COUNT(*) AS n FROM t GROUP BY a) AS q;
=>
Sink result (result), retract
  Aggregate MAX(n) as most; emit changes
    Project n
      Aggregate COUNT(*) as n by a; emit changes
        Project a
          Watermark ts as ts - 5 seconds, idle after 30 seconds
            Scan t (file)
              (a, b, c, s, tags, ts)

-- in each branch of a union
SELECT SUM(a) AS total FROM (SELECT a FROM t UNION ALL SELECT x FROM u) AS q;
=>
Sink result (result), retract
  FinalAggregate SUM(a) as total; emit changes
    Union all rows of 2 inputs
      PartialAggregate SUM(a) as total
        Project a
          Watermark ts as ts - 5 seconds, idle after 30 seconds
            Scan t (file)
              (a, b, c, s, tags, ts)
      PartialAggregate SUM(a) as total
        Project x as a
          Project x
            Scan u (file)
              (x, y)

-- what others read too
CREATE VIEW v AS SELECT a, b FROM t;
INSERT INTO one SELECT CAST(SUM(b) AS INT) FROM v;
INSERT INTO two SELECT CAST(COUNT(*) AS INT) FROM v;
=>
Sink one (file), retract
  Project EXPR$0 as a
    Project CAST($result0 AS INT) as EXPR$0
      FinalAggregate SUM(b) as $result0; emit changes
        PartialAggregate SUM(b) as $result0
          Project b
            Project a, b
              Watermark ts as ts - 5 seconds, idle after 30 seconds
                Scan t (file)
                  (a, b, c, s, tags, ts)
Sink two (file), retract
  Project EXPR$0 as a
    Project CAST($result0 AS INT) as EXPR$0
      FinalAggregate COUNT(*) as $result0; emit changes
        PartialAggregate COUNT(*) as $result0
          ^ Project a, b
