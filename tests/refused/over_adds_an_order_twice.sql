-- error: OVER (w ...) adds an order and a frame to a window, and this is its second ORDER BY; write the whole window here
-- at: w
SELECT SUM(delay) OVER (w ORDER BY ts) FROM flights WINDOW w AS (ORDER BY id);
