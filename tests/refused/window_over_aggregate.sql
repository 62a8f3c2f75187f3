-- error: this query has no event time to cut into windows; an aggregate without a window has no event time: aggregate by a window and group by window_time
-- at: ts
SELECT window_end FROM TUMBLE((SELECT ts, COUNT(*) AS n FROM flights GROUP BY ts), ts, INTERVAL '1' MINUTE);
