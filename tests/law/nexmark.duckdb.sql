-- query: q0
SELECT auction, bidder, price, dateTime, extra FROM bid
-- query: q1
SELECT auction, bidder, 0.908 * price AS price, dateTime, extra FROM bid
-- query: q2
SELECT auction, price FROM bid WHERE auction % 123 = 0
-- query: q3
SELECT p.name, p.city, p.state, a.id FROM auction a JOIN person p ON a.seller = p.id WHERE a.category = 10 AND p.state IN ('OR', 'ID', 'CA')
-- query: q4
SELECT category, avg(final) AS avg_price
FROM (SELECT max(price) AS final, category FROM open_bids GROUP BY id, category) GROUP BY category
-- query: q5
WITH counts AS (
  SELECT auction, count(*) AS num, starttime
  FROM (SELECT auction, unnest(generate_series(time_bucket(INTERVAL 2 SECOND, dateTime) - INTERVAL 8 SECOND,
    time_bucket(INTERVAL 2 SECOND, dateTime), INTERVAL 2 SECOND)) AS starttime FROM bid)
  GROUP BY auction, starttime)
SELECT auction, num FROM counts QUALIFY rank() OVER (PARTITION BY starttime ORDER BY num DESC) = 1
-- query: q6
SELECT seller, avg(price) OVER (PARTITION BY seller ORDER BY bid_time ROWS BETWEEN 10 PRECEDING AND CURRENT ROW) AS avg_price
FROM (SELECT * FROM open_bids QUALIFY row_number() OVER (PARTITION BY id ORDER BY price DESC) = 1)
-- query: q7
SELECT b.auction, b.price, b.bidder, b.dateTime, b.extra
FROM bid b JOIN (
  SELECT max(price) AS price, time_bucket(INTERVAL 10 SECOND, dateTime) AS starttime FROM bid GROUP BY starttime) AS m
ON b.price = m.price AND b.dateTime BETWEEN starttime AND starttime + INTERVAL 10 SECOND
-- query: q8
SELECT DISTINCT p.id, p.name, time_bucket(INTERVAL 10 SECOND, p.dateTime) AS starttime
FROM person p JOIN auction a ON p.id = a.seller AND time_bucket(INTERVAL 10 SECOND, p.dateTime) = time_bucket(INTERVAL 10 SECOND, a.dateTime)
-- query: q9
SELECT id, itemName, description, initialBid, reserve, dateTime, expires, seller, category, extra,
  auction, bidder, price, bid_time AS bid_dateTime, bid_extra
FROM open_bids QUALIFY row_number() OVER (PARTITION BY id ORDER BY price DESC, bid_time) = 1
-- query: q10
SELECT auction, bidder, price, dateTime, extra, strftime(dateTime, '%Y-%m-%d') AS dt, strftime(dateTime, '%H:%M') AS hm FROM bid
-- query: q11
SELECT bidder, count(*) AS bid_count, min(dateTime) AS starttime, max(dateTime) + INTERVAL 10 SECOND AS endtime
FROM (SELECT bidder, dateTime, sum(fresh) OVER (PARTITION BY bidder ORDER BY dateTime) AS number
  FROM (SELECT bidder, dateTime,
    (dateTime - lag(dateTime, 1, TIMESTAMP '1970-01-01') OVER (PARTITION BY bidder ORDER BY dateTime) > INTERVAL 10 SECOND)::INT AS fresh FROM bid))
GROUP BY bidder, number
-- query: q12
SELECT bidder, count(*) AS bid_count, time_bucket(INTERVAL 10 SECOND, dateTime) AS starttime, starttime + INTERVAL 10 SECOND AS endtime
FROM bid GROUP BY bidder, starttime
-- query: q13
SELECT auction, bidder, price, dateTime, value FROM bid JOIN side_input ON auction % 10000 = key
-- query: q14
SELECT auction, bidder, 0.908 * price AS price,
  CASE WHEN hour(dateTime) BETWEEN 8 AND 18 THEN 'dayTime' WHEN hour(dateTime) <= 6 OR hour(dateTime) >= 20 THEN 'nightTime'
    ELSE 'otherTime' END AS bidTimeType,
  dateTime, extra, len(list_filter(string_split(extra, ''), lambda letter: letter = 'c')) AS c_counts
FROM bid WHERE 0.908 * price > 1000000 AND 0.908 * price < 50000000
-- query: q15
SELECT strftime(dateTime, '%Y-%m-%d') AS day, count(*) AS total_bids,
  count(*) FILTER (rank = 1) AS rank1_bids, count(*) FILTER (rank = 2) AS rank2_bids, count(*) FILTER (rank = 3) AS rank3_bids,
  count(DISTINCT bidder) AS total_bidders, count(DISTINCT bidder) FILTER (rank = 1) AS rank1_bidders,
  count(DISTINCT bidder) FILTER (rank = 2) AS rank2_bidders, count(DISTINCT bidder) FILTER (rank = 3) AS rank3_bidders,
  count(DISTINCT auction) AS total_auctions, count(DISTINCT auction) FILTER (rank = 1) AS rank1_auctions,
  count(DISTINCT auction) FILTER (rank = 2) AS rank2_auctions, count(DISTINCT auction) FILTER (rank = 3) AS rank3_auctions
FROM ranked GROUP BY day
-- query: q16
SELECT channel, strftime(dateTime, '%Y-%m-%d') AS day, max(strftime(dateTime, '%H:%M')) AS minute, count(*) AS total_bids,
  count(*) FILTER (rank = 1) AS rank1_bids, count(*) FILTER (rank = 2) AS rank2_bids, count(*) FILTER (rank = 3) AS rank3_bids,
  count(DISTINCT bidder) AS total_bidders, count(DISTINCT bidder) FILTER (rank = 1) AS rank1_bidders,
  count(DISTINCT bidder) FILTER (rank = 2) AS rank2_bidders, count(DISTINCT bidder) FILTER (rank = 3) AS rank3_bidders,
  count(DISTINCT auction) AS total_auctions, count(DISTINCT auction) FILTER (rank = 1) AS rank1_auctions,
  count(DISTINCT auction) FILTER (rank = 2) AS rank2_auctions, count(DISTINCT auction) FILTER (rank = 3) AS rank3_auctions
FROM ranked GROUP BY channel, day
-- query: q17
SELECT auction, strftime(dateTime, '%Y-%m-%d') AS day, count(*) AS total_bids,
  count(*) FILTER (rank = 1) AS rank1_bids, count(*) FILTER (rank = 2) AS rank2_bids, count(*) FILTER (rank = 3) AS rank3_bids,
  min(price) AS min_price, max(price) AS max_price, avg(price) AS avg_price, sum(price) AS sum_price
FROM ranked GROUP BY auction, day
-- query: q18
SELECT * FROM bid QUALIFY row_number() OVER (PARTITION BY bidder, auction ORDER BY dateTime DESC) = 1
-- query: q19
SELECT *, row_number() OVER (PARTITION BY auction ORDER BY price DESC) AS rank_number FROM bid QUALIFY rank_number <= 10
-- query: q20
SELECT auction, bidder, price, channel, url, b.dateTime AS bid_dateTime, b.extra AS bid_extra,
  itemName, description, initialBid, reserve, a.dateTime AS auction_dateTime, expires, seller, category, a.extra AS auction_extra
FROM bid b JOIN auction a ON b.auction = a.id WHERE a.category = 10
-- query: q21
SELECT auction, bidder, price, channel,
  coalesce((map {'apple': '0', 'google': '1', 'facebook': '2', 'baidu': '3'})[lower(channel)], nullif(string_split(url, 'channel_id=')[2], '')) AS channel_id
FROM bid WHERE channel_id IS NOT NULL
-- query: q22
SELECT auction, bidder, price, channel, string_split(url, '/')[4] AS dir1, string_split(url, '/')[5] AS dir2, string_split(url, '/')[6] AS dir3 FROM bid
-- query: q23
SELECT bidder, price, channel, url, b.extra AS bid_extra,
  p.id AS person_id, name, emailAddress, creditCard, city, state, p.extra AS person_extra,
  itemName, description, initialBid, reserve, a.dateTime AS auction_dateTime, expires, seller, category, a.extra AS auction_extra
FROM bid b JOIN person p ON p.id = b.bidder JOIN auction a ON a.seller = b.bidder
