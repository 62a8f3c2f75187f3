-- error: there is no time zone 'Europe/Berln'; write a region as IANA spells it: 'Europe/Berlin'
-- at: 'time.zone' = 'Europe/Berln'
SET 'time.zone' = 'Europe/Berln';
SELECT HOUR(TIMESTAMP_LTZ '2026-03-29 12:00:00Z') AS hour;
