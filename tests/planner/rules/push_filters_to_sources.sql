-- into the source, below the watermark
SELECT a FROM t WHERE a > 1;
=>
Sink result (result), append
  Project a
    Watermark ts as ts - 5 seconds, idle after 30 seconds
      Scan t (file) where a > 1
        (a, b, c, s, tags, ts)

-- each conjunct by itself: one that can fail stays where it is
SELECT a FROM t WHERE a > 1 AND 10 / a > 2;
=>
Sink result (result), append
  Project a
    Filter 10 / a > 2
      Watermark ts as ts - 5 seconds, idle after 30 seconds
        Scan t (file) where a > 1
          (a, b, c, s, tags, ts)

-- a connector that does not filter leaves it to the first task
SELECT a FROM (SELECT a, UPPER(s) AS big FROM k) AS q WHERE a > 1;
=>
Sink result (result), append
  Project a
    Project a, UPPER(s) as big
      Filter a > 1
        Scan k (kafka)
          (a, s)

-- not below what computes it
SELECT a FROM (SELECT a, UPPER(s) AS big FROM (SELECT x AS a, y AS s FROM u) AS p) AS q WHERE big = 'X';
=>
Sink result (result), append
  Project a
    Filter big = 'X'
      Project a, UPPER(s) as big
        Project x as a, y as s
          Scan u (file)
            (x, y)

-- below a filter that can fail: it has fewer rows to fail on
SELECT a FROM (SELECT a FROM t WHERE 10 / a > 2) AS q WHERE a > 1;
=>
Sink result (result), append
  Project a
    Filter 10 / a > 2
      Watermark ts as ts - 5 seconds, idle after 30 seconds
        Scan t (file) where a > 1
          (a, b, c, s, tags, ts)

-- below a window's assignment, unless it asks for the window
SELECT a, window_end FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' DAY)) WHERE a > 1 AND window_end > TIMESTAMP '2024-01-01 00:00:00';
=>
Sink result (result), append
  Project a, window_end
    Filter window_end > TIMESTAMP '2024-01-01 00:00:00'
      AssignWindow TUMBLE of 1 day on ts
        Watermark ts as ts - 5 seconds, idle after 30 seconds
          Scan t (file) where a > 1
            (a, b, c, s, tags, ts)

-- below UNNEST, unless it asks for the element
SELECT a, tag FROM t CROSS JOIN UNNEST(tags) AS x (tag) WHERE a > 1 AND tag <> 'z';
=>
Sink result (result), append
  Project a, tag
    Filter tag <> 'z'
      Unnest tags as tag
        Watermark ts as ts - 5 seconds, idle after 30 seconds
          Scan t (file) where a > 1
            (a, b, c, s, tags, ts)

-- into the branches of a union
SELECT a FROM (SELECT a FROM t UNION ALL SELECT x FROM u) AS q WHERE a > 1;
=>
Sink result (result), append
  Union all rows of 2 inputs
    Project a
      Watermark ts as ts - 5 seconds, idle after 30 seconds
        Scan t (file) where a > 1
          (a, b, c, s, tags, ts)
    Project x as a
      Project x
        Scan u (file) where x > 1
          (x, y)

-- below an aggregate, when it asks for keys only
SELECT a, n FROM (SELECT a, COUNT(*) AS n FROM t GROUP BY a) AS q WHERE a > 1 AND n > 2;
=>
Sink result (result), retract
  Filter n > 2
    Aggregate COUNT(*) as n by a; emit changes
      Project a
        Watermark ts as ts - 5 seconds, idle after 30 seconds
          Scan t (file) where a > 1
            (a, b, c, s, tags, ts)

-- not below an aggregate by a float key: 0.0 and -0.0 are one group
SELECT c, n FROM (SELECT c, COUNT(*) AS n FROM t GROUP BY c) AS q WHERE c > 1e0;
=>
Sink result (result), retract
  Filter c > 1.0
    Aggregate COUNT(*) as n by c; emit changes
      Project c
        Watermark ts as ts - 5 seconds, idle after 30 seconds
          Scan t (file)
            (a, b, c, s, tags, ts)

-- not into what others read too
CREATE VIEW v AS SELECT a, b FROM t;
INSERT INTO one SELECT a FROM v WHERE a > 1;
INSERT INTO two SELECT a FROM v;
=>
Sink one (file), append
  Project a
    Filter a > 1
      Project a, b
        Watermark ts as ts - 5 seconds, idle after 30 seconds
          Scan t (file)
            (a, b, c, s, tags, ts)
Sink two (file), append
  Project a
    ^ Project a, b
