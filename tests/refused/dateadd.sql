-- error: there is no function DATEADD; write TIMESTAMPADD(DAY, -7, ts)
-- at: DATEADD(dd, -7, ts)
SELECT DATEADD(dd, -7, ts) AS before FROM flights;
