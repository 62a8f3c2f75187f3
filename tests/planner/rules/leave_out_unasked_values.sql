-- a filter that no row meets
SELECT a, SUM(b) FILTER (WHERE 1 = 2) AS none, COUNT(b) FILTER (WHERE CAST(NULL AS BOOLEAN)) AS zero, SUM(b) FILTER (WHERE b > 1) AS some FROM t GROUP BY a;
=>
Sink result (result), retract
  Aggregate SUM($nothingb) filter $filter as none, COUNT($nothingb) filter $filter0 as zero, SUM(b) filter $filter1 as some by a; emit changes
    Project a, b, $filter, $filter0, $filter1, NULL as $nothingb
      Project a, b, 1 = 2 as $filter, CAST(NULL AS BOOLEAN) as $filter0, b > 1 as $filter1
        Watermark ts as ts - 5 seconds, idle after 30 seconds
          Scan t (file)
            (a, b, c, s, tags, ts)

-- of OVER, whose filter is a constant too
SELECT a, SUM(b) FILTER (WHERE FALSE) OVER (PARTITION BY a) AS none FROM t;
=>
Sink result (result), retract
  Project a, none
    Over (PARTITION BY a): sum($nothingb) FILTER (WHERE $value) AS none
      Project a, b, c, s, tags, ts, $value, NULL as $nothingb
        Project a, b, c, s, tags, ts, FALSE as $value
          Watermark ts as ts - 5 seconds, idle after 30 seconds
            Scan t (file)
              (a, b, c, s, tags, ts)

-- branches, and operands, that no row comes to
SELECT CASE WHEN FALSE THEN a WHEN b > 1 THEN 1 WHEN 1 < 2 THEN 2 ELSE b END AS x, CASE WHEN TRUE THEN a ELSE b END AS y, b > 1 AND 1 = 2 AS f, b > 1 OR TRUE AS g, COALESCE(a, 1, b) AS h FROM t;
=>
Sink result (result), append
  Project CASE WHEN b > 1 THEN 1 ELSE 2 END as x, CAST(a AS BIGINT) as y, FALSE as f, TRUE as g, COALESCE(CAST(a AS BIGINT), 1) as h
    Watermark ts as ts - 5 seconds, idle after 30 seconds
      Scan t (file)
        (a, b, c, s, tags, ts)
