-- error: CUMULATE with a time zone is not supported: where clocks change, a step comes twice or not at all; write TUMBLE with 'Europe/Berlin' and EMIT CHANGES: the window so far, at each row
-- at: 'Europe/Berlin'
SELECT window_end, COUNT(*) AS n FROM CUMULATE(flights, ts, INTERVAL '1' HOUR, INTERVAL '1' DAY, 'Europe/Berlin') GROUP BY window_start, window_end;
