-- error: ISNULL does not belong here; write origin IS NULL
-- at: ISNULL
SELECT origin FROM flights WHERE origin ISNULL;
