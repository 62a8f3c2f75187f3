-- a component reads a stream once
CREATE VIEW v AS SELECT x FROM u WHERE x > 1;
SELECT x FROM v UNION ALL SELECT x FROM v;
=>
Sink result (result), append
  Union all rows of 2 inputs
    Project x
      Filter x > 1
        Scan u (file)
          (x, y)
    Project x
      ^ Project x
