-- what has no state is computed in each branch
SELECT UPPER(s) AS big FROM (SELECT s FROM t UNION ALL SELECT y FROM u) AS q WHERE s <> 'x';
=>
Sink result (result), append
  Union all rows of 2 inputs
    Project UPPER(s) as big
      Filter s <> 'x'
        Project s
          Watermark ts as ts - 5 seconds, idle after 30 seconds
            Scan t (file)
              (a, b, c, s, tags, ts)
    Project UPPER(s) as big
      Filter s <> 'x'
        Project y as s
          Project y
            Scan u (file)
              (x, y)

-- a union that several read stays whole
CREATE VIEW v AS SELECT a FROM t UNION ALL SELECT x FROM u;
INSERT INTO one SELECT a + 1 FROM v;
INSERT INTO two SELECT a FROM v;
=>
Sink one (file), append
  Project EXPR$0 as a
    Project a + 1 as EXPR$0
      Union all rows of 2 inputs
        Project a
          Watermark ts as ts - 5 seconds, idle after 30 seconds
            Scan t (file)
              (a, b, c, s, tags, ts)
        Project x as a
          Project x
            Scan u (file)
              (x, y)
Sink two (file), append
  ^ Union all rows of 2 inputs
