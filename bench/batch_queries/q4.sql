SELECT category, avg(final) AS avg_price FROM (
  SELECT max(price) AS final, category
  FROM auction JOIN bid ON id = auction AND bid.dateTime BETWEEN auction.dateTime AND expires GROUP BY id, category)
GROUP BY category
