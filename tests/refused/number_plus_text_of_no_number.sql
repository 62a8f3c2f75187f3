-- error: INT + VARCHAR is not possible; write CAST(delay AS VARCHAR) || ' minutes'
-- at: delay + ' minutes'
SELECT delay + ' minutes' AS late FROM flights;
