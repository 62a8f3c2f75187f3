-- error: there is no time zone 'CEST'; write a region as IANA spells it: 'Europe/Berlin'
-- at: 'CEST'
SELECT ts AT TIME ZONE 'UTC' AT TIME ZONE 'CEST' AS local FROM flights;
