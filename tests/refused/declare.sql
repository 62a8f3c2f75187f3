-- error: DECLARE is not supported: write the value itself where it is used
-- at: DECLARE
DECLARE @since DATE = '2013-06-01';
SELECT id FROM flights WHERE ts >= @since;
