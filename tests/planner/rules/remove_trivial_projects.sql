-- all columns, in order, under their names
SELECT x, y FROM u;
=>
Sink result (result), append
  Scan u (file)
    (x, y)

-- another order is not the same
SELECT y, x FROM u;
=>
Sink result (result), append
  Project y, x
    Scan u (file)
      (x, y)

-- another name is not the same
SELECT x AS z, y FROM u;
=>
Sink result (result), append
  Project x as z, y
    Scan u (file)
      (x, y)
