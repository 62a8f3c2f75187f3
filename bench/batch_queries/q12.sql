SELECT bidder, count(*) AS bid_count, window.start AS starttime, window.end AS endtime
FROM bid GROUP BY bidder, window(dateTime, '10 seconds')
