-- error: there is no function GENERATE_SERIES; write SELECT CAST(TIMESTAMPADD(DAY, n, DATE '2026-03-25') AS DATE) AS day FROM UNNEST(SEQUENCE(0, TIMESTAMPDIFF(DAY, DATE '2026-03-25', DATE '2026-03-31'))) AS u (n)
-- at: generate_series('2026-03-25'::date, '2026-03-31'::date, INTERVAL '1 day')
SELECT * FROM UNNEST(generate_series('2026-03-25'::date, '2026-03-31'::date, INTERVAL '1 day')) AS u (d);
