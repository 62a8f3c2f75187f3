-- query: unnest_array
SELECT id, tag FROM events CROSS JOIN UNNEST(tags) AS t (tag);
-- duckdb:
SELECT id, unnest(tags) AS tag FROM events;

-- query: unnest_rows
SELECT order_id, sku, n FROM orders CROSS JOIN UNNEST(items) AS line (sku, n);
-- duckdb:
SELECT order_id, line.sku AS sku, line.n AS n FROM (SELECT order_id, unnest(items) AS line FROM orders);

-- query: unnest_then_filter
SELECT order_id, sku FROM orders CROSS JOIN UNNEST(items) AS line (sku, n) WHERE n > 3 AND customer = 'ann';
-- duckdb:
SELECT order_id, line.sku AS sku FROM (SELECT order_id, customer, unnest(items) AS line FROM orders) WHERE line.n > 3 AND customer = 'ann';

-- query: unnest_then_group
SELECT sku, COUNT(*) AS lines, SUM(n) AS pieces FROM orders CROSS JOIN UNNEST(items) AS line (sku, n) GROUP BY sku;
-- duckdb:
SELECT line.sku AS sku, COUNT(*) AS lines, SUM(line.n) AS pieces FROM (SELECT unnest(items) AS line FROM orders) GROUP BY 1;

-- query: unnest_with_ordinality
SELECT id, tag, place FROM events CROSS JOIN UNNEST(tags) WITH ORDINALITY AS t (tag, place);
-- duckdb:
SELECT id, unnest(tags) AS tag, unnest(range(1, len(tags) + 1)) AS place FROM events;

-- query: unnest_map
SELECT order_id, k, v FROM orders CROSS JOIN UNNEST(labels) AS l (k, v);
-- duckdb:
SELECT order_id, entry.key AS k, entry.value AS v FROM (SELECT order_id, unnest(map_entries(labels)) AS entry FROM orders);

-- query: unnest_in_window
SELECT window_start, tag, COUNT(*) AS n
FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '10' MINUTES)) CROSS JOIN UNNEST(tags) AS t (tag)
GROUP BY window_start, window_end, tag;
-- duckdb:
SELECT tumble(ts, INTERVAL 10 MINUTE) AS window_start, tag, COUNT(*) AS n FROM (SELECT ts, unnest(tags) AS tag FROM events) GROUP BY 1, 2;

-- query: lateral_elements
SELECT e.id, v.t, v.two, d
FROM events AS e CROSS JOIN LATERAL (SELECT t, t || kind AS two FROM UNNEST(e.tags) AS u (t) WHERE t <> 'a' OR e.quantity > 10) AS v
CROSS JOIN LATERAL (SELECT e.quantity * 2 AS d) AS w WHERE d > 3;
-- duckdb:
SELECT e.id, t, t || kind AS two, e.quantity * 2 AS d FROM (SELECT *, unnest(tags) AS t FROM events) AS e WHERE (t <> 'a' OR e.quantity > 10) AND e.quantity * 2 > 3;

-- query: array_of_nothing
SELECT id, CARDINALITY(COALESCE(tags, ARRAY[])) AS n, CASE WHEN flag THEN ARRAY[] ELSE ARRAY[quantity] END AS some, ARRAY[ARRAY[], tags] AS both,
  tags = ARRAY[] AS bare, CARDINALITY(ARRAY[]) AS none
FROM events WHERE id < 300 AND tags IS NOT NULL;
-- duckdb:
SELECT id, LEN(COALESCE(tags, [])) AS n, CASE WHEN flag THEN [] ELSE [quantity] END AS some, [[], tags] AS both, tags = [] AS bare, 0 AS none
FROM events WHERE id < 300 AND tags IS NOT NULL;

-- query: elements_in_the_select_list
SELECT id, UNNEST(tags) AS tag, kind FROM events WHERE quantity > 4;

-- query: elements_in_an_expression
SELECT id, UPPER(UNNEST(tags)) || kind AS tags FROM events WHERE quantity > 4;
-- duckdb:
SELECT id, UPPER(tag) || kind AS tags FROM (SELECT id, kind, UNNEST(tags) AS tag FROM events WHERE quantity > 4);

-- query: empty_maps
SELECT order_id, CARDINALITY(MAP[]) AS none, CARDINALITY(COALESCE(labels, MAP[])) AS n FROM orders;
-- duckdb:
SELECT order_id, 0 AS none, COALESCE(CARDINALITY(labels), 0)::INT AS n FROM orders;

-- query: order_of_arrays
SELECT id, tags < ARRAY['b'] AS less, tags >= ARRAY['b', kind] AS more, tags BETWEEN ARRAY['a'] AND ARRAY['b', 'c'] AS inside,
  GREATEST(tags, ARRAY['b', 'a'], ARRAY[kind]) AS most, LEAST(tags, ARRAY['b', 'a']) AS least
FROM events WHERE id < 300;
-- duckdb:
WITH known AS (SELECT id, list_transform(tags, lambda t: coalesce('v' || t, '')) AS tags, coalesce('v' || kind, '') AS kind FROM events WHERE id < 300)
SELECT id, tags < ['vb'] AS less, tags >= ['vb', kind] AS more, tags BETWEEN ['va'] AND ['vb', 'vc'] AS inside,
  list_transform(greatest(tags, ['vb', 'va'], [kind]), lambda t: nullif(t, '')[2:]) AS most,
  list_transform(least(tags, ['vb', 'va']), lambda t: nullif(t, '')[2:]) AS least
FROM known;

-- query: arrays_sorted_by_their_elements
SELECT id, ARRAY_SORT(ARRAY[tags, ARRAY['b'], ARRAY[kind]]) AS sorted, ARRAY_MAX(ARRAY[tags, ARRAY[kind]]) AS most FROM events WHERE id < 300;
-- duckdb:
WITH known AS (SELECT id, list_transform(tags, lambda t: coalesce('v' || t, '')) AS tags, [coalesce('v' || kind, '')] AS kind FROM events WHERE id < 300)
SELECT id, list_transform(list_sort([tags, ['vb'], kind], 'ASC', 'NULLS LAST'), lambda a: list_transform(a, lambda t: nullif(t, '')[2:])) AS sorted,
  list_transform(greatest(tags, kind), lambda t: nullif(t, '')[2:]) AS most
FROM known;

-- query: order_of_rows
SELECT order_id, address > CAST(ROW('Lima', 50) AS ROW<city VARCHAR, zip INT>) AS behind,
  LEAST(address, CAST(ROW('Lima', 50) AS ROW<city VARCHAR, zip INT>)) AS least
FROM orders;
-- duckdb:
WITH known AS (
  SELECT order_id, address, coalesce(address.city, '') > 'Lima' OR (address.city = 'Lima' AND address.zip > 50) AS above FROM orders
)
SELECT order_id, CASE WHEN address IS NOT NULL THEN coalesce(above, false) END AS behind,
  CASE WHEN address IS NULL OR above THEN struct_pack(city := 'Lima', zip := 50) ELSE address END AS least
FROM known;

-- query: arrays_less_in_where
SELECT id, tags FROM events WHERE tags < ARRAY['b'] AND quantity > 4;
-- duckdb:
SELECT id, tags FROM events WHERE list_transform(tags, lambda t: coalesce('v' || t, '')) < ['vb'] AND quantity > 4;
