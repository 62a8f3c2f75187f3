-- error: FLATTEN is not supported; write CROSS JOIN UNNEST(e.items) AS f and f.sku where its elements are ROWs, AS f (value) where they are not, or AS f (key, value) of a MAP
-- at: FLATTEN(input => e.items)
CREATE TABLE events (id BIGINT, items ARRAY<ROW<sku VARCHAR, qty INT>>) WITH ('connector' = 'file', 'path' = 'e.jsonl', 'format' = 'json');
SELECT e.id, f.value:sku::string AS sku FROM events e, LATERAL FLATTEN(input => e.items) f;
