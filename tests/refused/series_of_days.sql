-- error: GENERATE_SERIES is not a table function; write FROM (SELECT CAST(TIMESTAMPADD(DAY, n, DATE '2026-03-25') AS DATE) AS day FROM UNNEST(SEQUENCE(0, TIMESTAMPDIFF(DAY, DATE '2026-03-25', DATE '2026-03-31'))) AS u (n)) AS s
-- at: generate_series('2026-03-25'::date, '2026-03-31'::date, INTERVAL '1 day')
SELECT * FROM generate_series('2026-03-25'::date, '2026-03-31'::date, INTERVAL '1 day');
