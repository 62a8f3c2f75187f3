SELECT auction, count(*) AS num, window.start AS starttime, window.end AS endtime
FROM bid GROUP BY auction, window(dateTime, '10 seconds', '2 seconds')
