-- error: a list of values in parentheses (only comparisons and IN take such lists) is not supported; write ROW(a, b) for several values as one
-- at: carrier, dest
SELECT COUNT(DISTINCT (carrier, dest)) FROM flights;
