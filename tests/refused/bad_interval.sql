-- error: 'five' is not an interval; write for example INTERVAL '5' SECOND or INTERVAL '1:30' HOUR TO MINUTE
-- at: INTERVAL 'five' MINUTE
SELECT ts - INTERVAL 'five' MINUTE FROM flights;
