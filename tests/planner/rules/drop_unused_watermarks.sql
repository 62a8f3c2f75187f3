-- nobody waits for time
SELECT a, COUNT(*) AS n FROM t GROUP BY a;
=>
Sink result (result), retract
  Aggregate COUNT(*) as n by a; emit changes
    Project a
      Scan t (file)
        (a, b, c, s, tags, ts)

-- a window does
SELECT window_end, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' DAY)) GROUP BY window_start, window_end;
=>
Sink result (result), append
  Project window_end, n
    Aggregate COUNT(*) as n by window_start, window_end; emit after watermark
      Project window_start, window_end
        AssignWindow TUMBLE of 1 day on ts
          Watermark ts as ts - 5 seconds, idle after 30 seconds
            Scan t (file)
              (a, b, c, s, tags, ts)

-- a view of which one reader waits
CREATE VIEW v AS SELECT a, ts FROM t;
INSERT INTO one SELECT a FROM v;
INSERT INTO two SELECT MAX(a) FROM TABLE(TUMBLE(TABLE v, DESCRIPTOR(ts), INTERVAL '1' DAY)) GROUP BY window_start, window_end;
=>
Sink one (file), append
  Project a
    Project a, ts
      Watermark ts as ts - 5 seconds, idle after 30 seconds
        Scan t (file)
          (a, b, c, s, tags, ts)
Sink two (file), append
  Project EXPR$0 as a
    Project EXPR$0
      Aggregate MAX(a) as EXPR$0 by window_start, window_end; emit after watermark
        Project window_start, window_end, a
          AssignWindow TUMBLE of 1 day on ts
            ^ Project a, ts
