-- error: there is no function WIDTH_BUCKET; write LEAST(GREATEST(CAST(FLOOR(1e0 * (delay - 0) * 10 / (100 - 0)) AS INT) + 1, 0), 10 + 1)
-- at: WIDTH_BUCKET(delay, 0, 100, 10)
SELECT WIDTH_BUCKET(delay, 0, 100, 10) FROM flights;
