-- a row is put into one pane, of two days, and a pane's total into three windows
SELECT window_end, a, COUNT(*) AS n FROM TABLE(HOP(TABLE t, DESCRIPTOR(ts), INTERVAL '2' DAY, INTERVAL '6' DAY)) GROUP BY window_start, window_end, a;
=>
Sink result (result), append
  Project window_end, a, n
    FinalAggregate COUNT(*) as n by window_start, window_end, a; emit after watermark
      Project $start as window_start, $end as window_end, a, $rows, n$count
        AssignWindow HOP of 6 days, every 2 days on $pane
          PartialAggregate COUNT(*) as n by a, $pane
            Project a, $pane
              AssignWindow TUMBLE of 2 days on ts
                Watermark ts as ts - 5 seconds, idle after 30 seconds
                  Scan t (file)
                    (a, b, c, s, tags, ts)

-- without other keys
SELECT window_end, SUM(a + 1) AS total FROM TABLE(HOP(TABLE t, DESCRIPTOR(ts), INTERVAL '3' HOUR, INTERVAL '6' HOUR)) GROUP BY window_start, window_end;
=>
Sink result (result), append
  Project window_end, total
    FinalAggregate SUM($value) as total by window_start, window_end; emit after watermark
      Project $start as window_start, $end as window_end, $rows, total$limb0, total$limb1, total$count
        AssignWindow HOP of 6 hours, every 3 hours on $pane
          PartialAggregate SUM($value) as total by $pane
            Project a + 1 as $value, $pane
              AssignWindow TUMBLE of 3 hours on ts
                Watermark ts as ts - 5 seconds, idle after 30 seconds
                  Scan t (file)
                    (a, b, c, s, tags, ts)

-- each branch of a union by itself
SELECT a, COUNT(*) AS n FROM (SELECT a, window_start, window_end FROM TABLE(HOP(TABLE t, DESCRIPTOR(ts), INTERVAL '1' HOUR, INTERVAL '2' HOUR)) UNION ALL SELECT a, window_start, window_end FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' HOUR))) GROUP BY a, window_start, window_end;
=>
Sink result (result), append
  Project a, n
    FinalAggregate COUNT(*) as n by a, window_start, window_end; emit after watermark
      Union all rows of 2 inputs
        Project a, $start as window_start, $end as window_end, $rows, n$count
          AssignWindow HOP of 2 hours, every 1 hour on $pane
            PartialAggregate COUNT(*) as n by a, $pane
              Project a, $pane
                AssignWindow TUMBLE of 1 hour on ts
                  Watermark ts as ts - 5 seconds, idle after 30 seconds
                    Scan t (file)
                      (a, b, c, s, tags, ts)
        PartialAggregate COUNT(*) as n by a, window_start, window_end
          Project a, window_start, window_end
            AssignWindow TUMBLE of 1 hour on ts
              ^ Watermark ts as ts - 5 seconds, idle after 30 seconds

-- not where the window is aggregated
SELECT a, window_end, MAX(window_start) AS latest FROM TABLE(HOP(TABLE t, DESCRIPTOR(ts), INTERVAL '1' HOUR, INTERVAL '2' HOUR)) GROUP BY a, window_start, window_end;
=>
Sink result (result), append
  Project a, window_end, latest
    FinalAggregate MAX(window_start) as latest by a, window_start, window_end; emit after watermark
      PartialAggregate MAX(window_start) as latest by a, window_start, window_end
        Project a, window_start, window_end
          AssignWindow HOP of 2 hours, every 1 hour on ts
            Watermark ts as ts - 5 seconds, idle after 30 seconds
              Scan t (file)
                (a, b, c, s, tags, ts)

-- not where it is computed with
SELECT h, window_end, COUNT(*) AS n FROM (SELECT HOUR(window_start) AS h, window_start, window_end FROM TABLE(HOP(TABLE t, DESCRIPTOR(ts), INTERVAL '1' HOUR, INTERVAL '2' HOUR))) GROUP BY h, window_start, window_end;
=>
Sink result (result), append
  Project h, window_end, n
    FinalAggregate COUNT(*) as n by h, window_start, window_end; emit after watermark
      PartialAggregate COUNT(*) as n by h, window_start, window_end
        Project HOUR(window_start) as h, window_start, window_end
          AssignWindow HOP of 2 hours, every 1 hour on ts
            Watermark ts as ts - 5 seconds, idle after 30 seconds
              Scan t (file)
                (a, b, c, s, tags, ts)

-- not where there is nothing to combine
SELECT window_end, COUNT(DISTINCT a) AS n FROM TABLE(HOP(TABLE t, DESCRIPTOR(ts), INTERVAL '1' HOUR, INTERVAL '2' HOUR)) GROUP BY window_start, window_end;
=>
Sink result (result), append
  Project window_end, n
    Aggregate COUNT(DISTINCT a) as n by window_start, window_end; emit after watermark
      Project window_start, window_end, a
        AssignWindow HOP of 2 hours, every 1 hour on ts
          Watermark ts as ts - 5 seconds, idle after 30 seconds
            Scan t (file)
              (a, b, c, s, tags, ts)
