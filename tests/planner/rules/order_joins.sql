-- a table that has a key of one before it comes first, and the columns stay where they were
SELECT t.b, u.x, k.a FROM t, u, k WHERE k.a = t.a AND u.y = k.s AND t.b > u.x;
=>
Sink result (result), append
  Project b, x, a0 as a
    Filter b > CAST(x AS BIGINT)
      Project a, b, c, s, tags, ts, x, y, a0, s0
        Join on s0 = y
          Join on a = a0
            Watermark ts as ts - 5 seconds, idle after 30 seconds
              Scan t (file)
                (a, b, c, s, tags, ts)
            Project a as a0, s as s0
              Scan k (kafka)
                (a, s)
          Scan u (file)
            (x, y)

-- the order that was written, where every join has a key, or none could have
SELECT t.b, u.x, k.a FROM t JOIN k ON k.a = t.a JOIN u ON u.y = k.s CROSS JOIN two;
=>
Sink result (result), append
  Project b, x, a0 as a
    Join every row with every row
      Join on s0 = y
        Join on a = a0
          Watermark ts as ts - 5 seconds, idle after 30 seconds
            Scan t (file)
              (a, b, c, s, tags, ts)
          Project a as a0, s as s0
            Scan k (kafka)
              (a, s)
        Scan u (file)
          (x, y)
      Project a as a1
        Scan two (file)
          (a)

-- two keys of one column: the second is a condition
SELECT t.b, u.x FROM t, u, one, k WHERE k.a = t.a AND k.a = one.a AND u.y = k.s;
=>
Sink result (result), append
  Project b, x
    Project a, b, c, s, tags, ts, x, y, a0, a1, s0
      Join on a1 = a0
        Join on s0 = y
          Join on a = a1
            Watermark ts as ts - 5 seconds, idle after 30 seconds
              Scan t (file)
                (a, b, c, s, tags, ts)
            Project a as a1, s as s0
              Scan k (kafka)
                (a, s)
          Scan u (file)
            (x, y)
        Project a as a0
          Scan one (file)
            (a)

-- an outer join stays where it is
SELECT t.b, u.x, k.a FROM t CROSS JOIN one LEFT JOIN u ON u.x = t.a, k WHERE k.a = t.a AND one.a = k.a;
=>
Sink result (result), retract
  Project b, x, a1 as a
    Filter a0 = a1
      Join on a = a1
        Join LEFT on a = x
          Join every row with every row
            Watermark ts as ts - 5 seconds, idle after 30 seconds
              Scan t (file)
                (a, b, c, s, tags, ts)
            Project a as a0
              Scan one (file)
                (a)
          Scan u (file)
            (x, y)
        Project a as a1, s as s0
          Scan k (kafka)
            (a, s)

-- a join that two read is a table
WITH pairs AS (SELECT t.a, u.x FROM t, u) SELECT p.a, q.x FROM pairs AS p, pairs AS q, k WHERE p.a = k.a AND q.x = k.a;
=>
Sink result (result), append
  Project a, x0 as x
    Project a, x, a0, x0, a1, s
      Join on a1 = x0
        Join on a = a1
          Project a, x
            Join every row with every row
              Watermark ts as ts - 5 seconds, idle after 30 seconds
                Scan t (file)
                  (a, b, c, s, tags, ts)
              Scan u (file)
                (x, y)
          Project a as a1, s
            Scan k (kafka)
              (a, s)
        Project a as a0, x as x0
          ^ Project a, x
