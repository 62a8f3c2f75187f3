-- down to the source
SELECT a FROM t;
=>
Sink result (result), append
  Project a
    Watermark ts as ts - 5 seconds, idle after 30 seconds
      Scan t (file)
        (a, ts)

-- a frame needs one column
SELECT COUNT(*) AS n FROM u;
=>
Sink result (result), retract
  Aggregate COUNT(*) as n; emit changes
    Scan u (file)
      (x)

-- what filters, windows and aggregates ask for stays
SELECT window_end, COUNT(*) AS n, SUM(b) AS total FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' DAY)) WHERE a > 1 GROUP BY window_start, window_end;
=>
Sink result (result), append
  Project window_end, n, total
    Aggregate COUNT(*) as n, SUM(b) as total by window_start, window_end; emit after watermark
      Project window_start, window_end, b
        Filter a > 1
          AssignWindow TUMBLE of 1 day on ts
            Watermark ts as ts - 5 seconds, idle after 30 seconds
              Scan t (file)
                (a, b, ts)

-- an aggregate that nobody reads is not computed
SELECT a, n FROM (SELECT a, COUNT(*) AS n, SUM(b) AS total FROM t GROUP BY a) AS q;
=>
Sink result (result), retract
  Project a, n
    Aggregate COUNT(*) as n by a; emit changes
      Project a
        Watermark ts as ts - 5 seconds, idle after 30 seconds
          Scan t (file)
            (a, ts)

-- a view gives what any of its readers asks for
CREATE VIEW v AS SELECT a, b, s FROM t;
INSERT INTO one SELECT a FROM v;
INSERT INTO two SELECT CAST(b AS INT) FROM v;
=>
Sink one (file), append
  Project a
    Project a, b
      Watermark ts as ts - 5 seconds, idle after 30 seconds
        Scan t (file)
          (a, b, ts)
Sink two (file), append
  Project EXPR$0 as a
    Project CAST(b AS INT) as EXPR$0
      ^ Project a, b

-- a table that sets its bad records aside is read whole
SELECT p FROM lenient;
=>
Sink result (result), append
  Project p
    Scan lenient (file)
      (p, q)

-- nothing of a group but that there is one
SELECT a FROM (SELECT a, SUM(10 / b) AS x FROM t GROUP BY a) AS q;
=>
Sink result (result), retract
  Project a
    Aggregate COUNT(*) as x by a; emit changes
      Project a
        Watermark ts as ts - 5 seconds, idle after 30 seconds
          Scan t (file)
            (a, ts)
