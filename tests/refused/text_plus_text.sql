-- error: VARCHAR + VARCHAR is not possible; write origin || carrier
-- at: origin + carrier
SELECT origin + carrier FROM flights;
