SELECT bidder, price, channel, url, bid.extra AS bid_extra, person.id AS person_id, name, emailAddress, creditCard, city, state,
  person.extra AS person_extra, itemName, description, initialBid, reserve, auction.dateTime AS auction_dateTime, expires, seller, category,
  auction.extra AS auction_extra
FROM bid JOIN person ON person.id = bidder JOIN auction ON seller = bidder
