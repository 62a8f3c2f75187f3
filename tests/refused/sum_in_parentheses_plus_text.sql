-- error: INT + VARCHAR is not possible; write CAST((delay + 1) * 2 AS VARCHAR) || 'min'
-- at: (delay + 1) * 2 + 'min'
SELECT (delay + 1) * 2 + 'min' AS late FROM flights;
