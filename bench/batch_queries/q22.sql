SELECT auction, bidder, price, channel, get(split(url, '/'), 3) AS dir1, get(split(url, '/'), 4) AS dir2, get(split(url, '/'), 5) AS dir3 FROM bid
