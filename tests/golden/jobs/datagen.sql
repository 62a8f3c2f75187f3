CREATE TABLE ticks (symbol VARCHAR, price DOUBLE) WITH ('connector' = 'datagen', 'rows' = '1000');

SELECT symbol, MIN(price) AS low, MAX(price) AS high FROM ticks GROUP BY symbol;
