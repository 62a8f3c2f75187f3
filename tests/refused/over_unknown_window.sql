-- error: there is no window w; add WINDOW w AS (...)
-- at: w
SELECT SUM(delay) OVER w FROM flights;
