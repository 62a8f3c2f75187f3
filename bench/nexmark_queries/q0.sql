-- Pass through: the cost of reading and writing.
CREATE TABLE answer (auction BIGINT, bidder BIGINT, price BIGINT, `dateTime` TIMESTAMP(3), extra VARCHAR) WITH ('connector' = 'blackhole');
INSERT INTO answer SELECT auction, bidder, price, `dateTime`, extra FROM bid;
