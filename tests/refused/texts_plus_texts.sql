-- error: VARCHAR + VARCHAR is not possible; write origin || ', ' || CAST(delay AS VARCHAR) || carrier
-- at: origin + ', '
SELECT origin + ', ' + delay + carrier AS a FROM flights;
