SELECT auction, price, bidder, dateTime, extra
FROM bid JOIN (SELECT max(price) AS highest, window.end AS ends FROM bid GROUP BY window(dateTime, '10 seconds'))
ON price = highest AND dateTime BETWEEN ends - INTERVAL 10 SECONDS AND ends
