-- error: there is no function SESSION_WINDOW; write GROUP BY SESSION(ts, INTERVAL '5' MINUTE)
-- at: session_window(ts, '5 minutes')
SELECT COUNT(*) FROM flights GROUP BY session_window(ts, '5 minutes');
