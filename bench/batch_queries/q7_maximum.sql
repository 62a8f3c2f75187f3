SELECT max(price) AS maxprice, window.end AS endtime FROM bid GROUP BY window(dateTime, '10 seconds')
