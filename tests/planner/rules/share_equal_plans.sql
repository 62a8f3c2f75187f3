-- one aggregate for both readers, whichever columns each takes
SELECT x.n, y.total FROM (SELECT a, COUNT(*) AS n, SUM(b) AS total FROM t GROUP BY a) AS x JOIN (SELECT a, COUNT(*) AS n, SUM(b) AS total FROM t GROUP BY a) AS y ON x.a = y.a;
=>
Sink result (result), retract
  Project n, total0 as total
    Join on a = a0
      Aggregate COUNT(*) as n, SUM(b) as total by a; emit changes
        Project a, b
          Watermark ts as ts - 5 seconds, idle after 30 seconds
            Scan t (file)
              (a, b, c, s, tags, ts)
      Project a as a0, n as n0, total as total0
        ^ Aggregate COUNT(*) as n, SUM(b) as total by a; emit changes

-- not where a result is called otherwise
SELECT p.x FROM (SELECT x, COUNT(*) AS n FROM u GROUP BY x) AS p JOIN (SELECT MAX(m) AS most FROM (SELECT COUNT(*) AS m FROM u GROUP BY x) AS c) AS q ON p.n = q.most;
=>
Sink result (result), retract
  Project x
    Join on n = most
      Aggregate COUNT(*) as n by x; emit changes
        Project x
          Scan u (file)
            (x, y)
      Aggregate MAX(m) as most; emit changes
        Project m
          Aggregate COUNT(*) as m by x; emit changes
            Project x
              ^ Scan u (file)

-- in two statements
INSERT INTO one SELECT DISTINCT x FROM u; INSERT INTO two SELECT DISTINCT x FROM u;
=>
Sink one (file), append
  Project x as a
    Aggregate by x; emit changes
      Project x
        Scan u (file)
          (x, y)
Sink two (file), append
  ^ Project x as a

-- not where a filter can come down into one of them
SELECT p.n FROM (SELECT x, COUNT(*) AS n FROM u GROUP BY x) AS p JOIN (SELECT x, COUNT(*) AS n FROM u GROUP BY x) AS q ON p.n = q.n WHERE q.x = 1;
=>
Sink result (result), retract
  Project n
    Filter x0 = 1
      Join on n = n0
        Aggregate COUNT(*) as n by x; emit changes
          Project x
            Scan u (file)
              (x, y)
        Project x as x0, n as n0
          Aggregate COUNT(*) as n by x; emit changes
            Project x
              ^ Scan u (file)

-- the same filter
SELECT p.n FROM (SELECT x, COUNT(*) AS n FROM u WHERE x > 1 GROUP BY x) AS p JOIN (SELECT x, COUNT(*) AS n FROM u WHERE x > 1 GROUP BY x) AS q ON p.n = q.n;
=>
Sink result (result), retract
  Project n
    Join on n = n0
      Aggregate COUNT(*) as n by x; emit changes
        Project x
          Filter x > 1
            Scan u (file)
              (x, y)
      Project x as x0, n as n0
        ^ Aggregate COUNT(*) as n by x; emit changes

-- not what keeps no rows
SELECT x + 1 AS v FROM u WHERE x > 1 UNION ALL SELECT x + 1 FROM u WHERE x > 1;
=>
Sink result (result), append
  Union all rows of 2 inputs
    Project x + 1 as v
      Filter x > 1
        Scan u (file)
          (x, y)
    Project EXPR$0 as v
      Project x + 1 as EXPR$0
        Filter x > 1
          ^ Scan u (file)
