SELECT tailnum, session_window.start, session_window.end, count(*) AS flights, max(dep_delay) AS most
FROM flights GROUP BY tailnum, session_window(ts, '30 minutes')
