SELECT id, itemName, description, initialBid, reserve, dateTime, expires, seller, category, extra, auction, bidder, price, bid_dateTime, bid_extra
FROM (
  SELECT *, row_number() OVER (PARTITION BY id ORDER BY price DESC, bid_dateTime, bidder, bid_extra) AS place
  FROM auction
  JOIN (SELECT auction, bidder, price, dateTime AS bid_dateTime, extra AS bid_extra FROM bid)
  ON id = auction AND bid_dateTime BETWEEN dateTime AND expires)
WHERE place = 1
