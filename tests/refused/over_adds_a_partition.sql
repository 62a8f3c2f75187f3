-- error: OVER (w ...) adds an order and a frame to a window, and this is its PARTITION BY; write the whole window here
-- at: w
SELECT SUM(delay) OVER (w PARTITION BY origin) FROM flights WINDOW w AS (ORDER BY id);
