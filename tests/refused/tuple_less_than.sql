-- error: a list of values in parentheses (only =, <> and IN compare such lists) is not supported; write ROW(a, b) for several values as one
-- at: id, delay
SELECT id FROM flights WHERE (id, delay) < (1, 2);
