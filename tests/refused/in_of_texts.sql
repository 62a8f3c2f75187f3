-- error: IN does not take (BIGINT, VARCHAR, VARCHAR); write CAST(id AS VARCHAR) IN ('a', 'b')
-- at: id IN ('a', 'b')
SELECT origin FROM flights WHERE id IN ('a', 'b');
