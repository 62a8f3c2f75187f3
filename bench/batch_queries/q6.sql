SELECT seller, avg(price) OVER (PARTITION BY seller ORDER BY dateTime, id, price ROWS BETWEEN 10 PRECEDING AND CURRENT ROW) AS avg_price
FROM (
  SELECT id, seller, price, dateTime, row_number() OVER (PARTITION BY id, seller ORDER BY price DESC, dateTime) AS place
  FROM (SELECT id, seller, price, bid.dateTime FROM auction JOIN bid ON id = auction AND bid.dateTime BETWEEN auction.dateTime AND expires))
WHERE place = 1
