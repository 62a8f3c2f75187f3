-- Selection: bids on one auction in 123.
CREATE TABLE answer (auction BIGINT, price BIGINT) WITH ('connector' = 'blackhole');
INSERT INTO answer SELECT auction, price FROM bid WHERE MOD(auction, 123) = 0;
