-- error: origin is VARCHAR, and brackets are of an ARRAY or a MAP; write SUBSTRING(origin, 1, 2)
-- at: 1:2
SELECT origin[1:2] AS start FROM flights;
