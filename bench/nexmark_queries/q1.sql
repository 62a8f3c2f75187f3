-- Currency conversion: each bid in euros.
CREATE TABLE answer (auction BIGINT, bidder BIGINT, price DECIMAL(23, 3), `dateTime` TIMESTAMP(3), extra VARCHAR) WITH ('connector' = 'blackhole');
INSERT INTO answer SELECT auction, bidder, CAST(0.908 * price AS DECIMAL(23, 3)), `dateTime`, extra FROM bid;
