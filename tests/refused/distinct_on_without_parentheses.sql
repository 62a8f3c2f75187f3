-- error: what DISTINCT ON names stands in parentheses; write DISTINCT ON (carrier)
-- at: carrier
SELECT DISTINCT ON carrier carrier, delay FROM flights ORDER BY carrier, delay DESC;
