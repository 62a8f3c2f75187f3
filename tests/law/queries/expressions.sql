-- query: integer_arithmetic
SELECT id, quantity + 3 AS more, quantity - id AS less, quantity * 7 AS times, -quantity AS negated FROM events;

-- query: integer_division_drops_the_fraction
SELECT id, (quantity - 10) / 3 AS whole, (quantity - 10) % 3 AS rest, MOD(id, 7) AS seventh FROM events;
-- duckdb:
SELECT id, (quantity - 10) // 3 AS whole, (quantity - 10) % 3 AS rest, id % 7 AS seventh FROM events;

-- query: double_arithmetic
SELECT id, amount / 3 AS third, amount * 2.0E0 + 1 AS line, amount - quantity AS difference FROM events;

-- query: decimal_arithmetic
SELECT id, price + price AS twice, price * quantity AS cost, price - 0.001 AS shaved FROM events;

-- query: comparisons
SELECT id, amount > 0 AS positive, price <= 100 AS cheap, kind = 'buy' AS bought, kind <> 'buy' AS other, ts >= TIMESTAMP '2024-02-29 00:00:00' AS leap
FROM events;

-- query: three_valued_logic
SELECT id, flag AND amount > 0 AS both_true, flag OR amount > 0 AS either, NOT flag AS inverse, flag IS TRUE AS sure, flag IS NOT FALSE AS unsure,
  kind IS NULL AS absent
FROM events;

-- query: distinct_from
SELECT id, user_id IS DISTINCT FROM 1 AS cold, kind IS NOT DISTINCT FROM NULL AS absent FROM events;

-- query: simple_case
SELECT id, CASE kind WHEN 'buy' THEN 3 WHEN 'click' THEN 2 WHEN NULL THEN 9 ELSE 0 END AS score FROM events;

-- query: searched_case
SELECT id, CASE WHEN amount > 100 THEN 'high' WHEN amount > 0 THEN 'some' WHEN amount IS NULL THEN 'none' ELSE 'debt' END AS level,
  CASE WHEN quantity > 10 THEN amount END AS large
FROM events;

-- query: case_guards_division
SELECT id, CASE WHEN quantity = 0 THEN NULL ELSE 100 / quantity END AS share FROM events;
-- duckdb:
SELECT id, CASE WHEN quantity = 0 THEN NULL ELSE 100 // quantity END AS share FROM events;

-- query: null_functions
SELECT id, COALESCE(kind, 'nothing') AS kind, NULLIF(quantity, 0) AS nonzero, COALESCE(price, 0) AS price FROM events;

-- query: text_case_and_length
SELECT id, UPPER(kind) AS big, LOWER(kind) AS small, CHAR_LENGTH(kind) AS size FROM events;
-- duckdb:
SELECT id, upper(kind) AS big, lower(kind) AS small, length(kind) AS size FROM events;

-- query: text_parts
SELECT id, SUBSTRING(kind, 2, 3) AS part, SUBSTRING(kind FROM 3) AS tail, TRIM(kind) AS bare, POSITION('i' IN kind) AS place,
  REPLACE(kind, 'i', '!') AS marked
FROM events;
-- duckdb:
SELECT id, substring(kind, 2, 3) AS part, substring(kind, 3) AS tail, trim(kind) AS bare, strpos(kind, 'i') AS place, replace(kind, 'i', '!') AS marked
FROM events;

-- query: text_joined
SELECT id, kind || '/' || CAST(id AS VARCHAR) AS label, CONCAT(kind, '-', 'x') AS joined FROM events;
-- duckdb:
SELECT id, kind || '/' || CAST(id AS VARCHAR) AS label, kind || '-' || 'x' AS joined FROM events;

-- query: like_and_in
SELECT id, kind LIKE '%i%' AS has_i, kind NOT LIKE '_i%' AS no_second_i, kind IN ('buy', 'click') AS known, quantity NOT IN (1, 2, 3) AS rare,
  quantity BETWEEN 5 AND 9 AS middle
FROM events;

-- query: regular_expressions
SELECT order_id, REGEXP_EXTRACT(CAST(total AS VARCHAR), '([0-9]+)[.]([0-9]+)', 2) AS fraction, REGEXP_REPLACE(customer, '[an]+', '*') AS masked
FROM orders;
-- duckdb:
SELECT order_id, regexp_extract(CAST(total AS VARCHAR), '([0-9]+)[.]([0-9]+)', 2) AS fraction, regexp_replace(customer, '[an]+', '*', 'g') AS masked
FROM orders;

-- query: rounding
SELECT id, ROUND(amount, 2) AS cents, FLOOR(amount) AS below, CEIL(amount) AS above, ABS(amount) AS size, SIGN(amount) AS direction FROM events;
-- duckdb:
SELECT id, round(amount, 2) AS cents, CAST(floor(amount) AS BIGINT) AS below, CAST(ceil(amount) AS BIGINT) AS above, abs(amount) AS size,
  CAST(sign(amount) AS DOUBLE) AS direction
FROM events;

-- query: powers
SELECT id, POWER(amount, 2) AS square, SQRT(ABS(amount)) AS root, EXP(amount / 100) AS grown, LN(ABS(amount) + 1) AS shrunk FROM events;

-- query: greatest_and_least
SELECT id, GREATEST(quantity, 5) AS most, LEAST(quantity, 5) AS fewest FROM events;

-- query: calendar
SELECT order_id, EXTRACT(YEAR FROM ordered) AS y, EXTRACT(MONTH FROM ordered) AS m, EXTRACT(DAY FROM ts) AS d, EXTRACT(HOUR FROM ts) AS h,
  EXTRACT(MINUTE FROM ts) AS mi
FROM orders;

-- query: calendar_text
SELECT id, DATE_FORMAT(ts, 'yyyy-MM-dd HH:mm') AS minute FROM events;
-- duckdb:
SELECT id, strftime(ts, '%Y-%m-%d %H:%M') AS minute FROM events;

-- query: time_arithmetic
SELECT order_id, ts + INTERVAL '90' MINUTE AS later, ts - INTERVAL '1' DAY AS earlier, ordered + INTERVAL '1' MONTH AS next_month FROM orders;
-- duckdb:
SELECT order_id, ts + INTERVAL 90 MINUTE AS later, ts - INTERVAL 1 DAY AS earlier, CAST(ordered + INTERVAL 1 MONTH AS DATE) AS next_month FROM orders;

-- query: time_differences
SELECT order_id, TIMESTAMPDIFF(SECOND, TIMESTAMP '2024-02-28 00:00:00', ts) AS seconds, TIMESTAMPADD(HOUR, 3, ts) AS moved FROM orders;
-- duckdb:
SELECT order_id, datesub('second', TIMESTAMP '2024-02-28 00:00:00', ts) AS seconds, ts + INTERVAL 3 HOUR AS moved FROM orders;

-- query: row_fields
SELECT order_id, address.city AS city, address.zip + 1 AS next_zip FROM orders;

-- query: map_entries
SELECT order_id, labels['tier'] AS tier, labels['absent'] AS absent FROM orders;

-- query: array_elements
SELECT id, tags[1] AS first_tag, CARDINALITY(tags) AS n_tags, ARRAY_CONTAINS(tags, 'a') AS has_a FROM events WHERE CARDINALITY(tags) > 0;
-- duckdb:
SELECT id, tags[1] AS first_tag, CAST(len(tags) AS INTEGER) AS n_tags,
  CASE WHEN list_contains(tags, 'a') THEN true WHEN len(list_filter(tags, lambda t: t IS NULL)) > 0 THEN NULL ELSE false END AS has_a
FROM events WHERE len(tags) > 0;

-- query: constants_only
SELECT 1 AS one, 'x' AS letter, TRUE AS yes, 1.50 AS money, DATE '2024-02-29' AS leap FROM events WHERE id < 5;

-- query: computed_column
SELECT order_id, pennies, pennies % 100 AS rest FROM orders WHERE pennies > 1000;

-- query: expr_words_of_calls_inside_case
SELECT id, SUBSTRING(CASE WHEN kind IS NOT DISTINCT FROM 'buy' THEN 'abc' ELSE kind END FROM 2 FOR 2) AS part,
  POSITION(CASE WHEN kind IN ('buy', 'view') THEN 'u' ELSE 'i' END IN kind) AS place,
  TRIM(LEADING CASE WHEN kind IS DISTINCT FROM 'buy' THEN 'c' ELSE 'b' END FROM kind) AS rest
FROM events;

-- query: tuples_in_lists
SELECT id, (user_id, quantity) IN ((1, 3), (2, 4), (1, NULL), (NULL, 7)) AS among, (user_id, quantity) = (1, 3) AS same,
  (user_id, quantity) <> (2, NULL) AS other FROM events
WHERE (kind, flag) IN (('click', true), ('buy', false)) OR (user_id, quantity) NOT IN ((1, 2), (1, 5), (NULL, 8));
-- duckdb:
SELECT id, (user_id = 1 AND quantity = 3) OR (user_id = 2 AND quantity = 4) OR (user_id = 1 AND quantity = NULL) OR (user_id = NULL AND quantity = 7) AS among, user_id = 1 AND quantity = 3 AS same,
  NOT (user_id = 2 AND quantity = NULL) AS other FROM events
WHERE (kind = 'click' AND flag) OR (kind = 'buy' AND NOT flag) OR NOT ((user_id = 1 AND quantity = 2) OR (user_id = 1 AND quantity = 5) OR (user_id = NULL AND quantity = 8));

-- query: constants_are_computed_once
SELECT id, 7 / 2 AS whole, 7 / 2e0 AS half, CAST(0.1 AS FLOAT) * CAST(3 AS FLOAT) AS single, 1.5 * -2.25 AS exact, CAST('12' AS SMALLINT) AS small, TRY_CAST('x' AS INT) AS none,
  DATE '2013-01-31' + INTERVAL '1' MONTH AS later, CAST('1969-12-31 23:59:59.5' AS TIMESTAMP_LTZ(3)) - INTERVAL '1' SECOND AS instant, ts + (INTERVAL '1' HOUR - INTERVAL '1' MINUTE) AS moved,
  LENGTH(UPPER('abc')) AS n, NULL IS NULL AND NOT FALSE AS yes, NULLIF(1, 1) = quantity AS unknown
FROM events
WHERE 1 = 1 AND ts >= TIMESTAMP '2024-02-28 23:40:00' + INTERVAL '5' MINUTE AND (1 > 2 OR quantity > 3) AND (TRUE OR quantity / 0 = 1);
-- duckdb:
SELECT id, 3 AS whole, 3.5::DOUBLE AS half, 0.1::FLOAT * 3::FLOAT AS single, 1.5 * -2.25 AS exact, 12::SMALLINT AS small, NULL::INTEGER AS none,
  DATE '2013-02-28' AS later, TIMESTAMP '1969-12-31 23:59:58.5' AS instant, ts + INTERVAL 59 MINUTE AS moved, 3 AS n, true AS yes, NULL::BOOLEAN AS unknown
FROM events WHERE ts >= TIMESTAMP '2024-02-28 23:45:00' AND quantity > 3;

-- query: json_looked_into
SELECT id, JSON_VALUE(doc, 'lax $.a' RETURNING INT NULL ON ERROR) AS a, JSON_EXISTS(doc, '$.a') AS has_a, JSON_EXISTS(doc, '$.n[1]' FALSE ON ERROR) AS second
FROM (SELECT id, CASE id % 4 WHEN 0 THEN '{"a": ' || CAST(id AS VARCHAR) || '}' WHEN 1 THEN '{"a": null, "n": [1, null]}' WHEN 2 THEN 'no json' END AS doc FROM events);
-- duckdb:
SELECT id, CASE WHEN id % 4 = 0 THEN CAST(id AS INTEGER) END AS a, CASE WHEN id % 4 < 3 THEN id % 4 < 2 END AS has_a,
  CASE WHEN id % 4 < 3 THEN id % 4 = 1 END AS second FROM events;

-- query: is_after_a_comparison
SELECT id, user_id = quantity IS NULL AS unknown, quantity > user_id IS NOT TRUE AS hardly, amount <= price IS DISTINCT FROM flag AS other,
  kind <> 'buy' IS UNKNOWN AS unsure, amount < 0 IS FALSE IS NULL AS never, flag IS NULL = (kind IS NULL) AS both_of_them,
  flag IS NOT DISTINCT FROM amount > 0 AS positive
FROM events WHERE quantity = 3 IS NOT TRUE AND NOT kind = 'view' IS NULL;

-- query: precedence
SELECT id, NOT flag IS NULL AND user_id BETWEEN 1 AND quantity + 3 OR kind LIKE 'b' || '%' AND NOT amount > 0 AS mixed,
  -quantity - id * 3 - -2 AS line, NOT kind IN ('buy', 'sell') = flag AS neither, -5::BIGINT + quantity::BIGINT AS less,
  kind || '-' || kind LIKE '%y-b%' IS NOT FALSE AS twice, flag = NOT amount > 0 IS NULL AS odd
FROM events;

-- query: tuples_in_order
SELECT id, (kind, quantity) < ('sell', 3) AS less, (user_id, quantity, id) >= (2, 2, 7) AS from_there, (quantity, flag) > (quantity, FALSE) AS same
FROM events WHERE (kind, user_id) <= ('view', 2) OR kind IS NULL;
-- duckdb:
SELECT id, kind < 'sell' OR (kind = 'sell' AND quantity < 3) AS less,
  user_id > 2 OR (user_id = 2 AND (quantity > 2 OR (quantity = 2 AND id >= 7))) AS from_there,
  quantity > quantity OR (quantity = quantity AND flag > FALSE) AS same
FROM events WHERE (kind < 'view' OR (kind = 'view' AND user_id <= 2)) OR kind IS NULL;

-- query: rlike
SELECT id, kind RLIKE '^[bs]' AS begins, kind NOT REGEXP 'e.*l$' AS other, NOT REGEXP(kind, 'u') AS call FROM events WHERE NOT kind RLIKE 'w$' OR kind IS NULL;
-- duckdb:
SELECT id, REGEXP_MATCHES(kind, '^[bs]') AS begins, NOT REGEXP_MATCHES(kind, 'e.*l$') AS other, NOT REGEXP_MATCHES(kind, 'u') AS call FROM events
WHERE NOT REGEXP_MATCHES(kind, 'w$') OR kind IS NULL;

-- query: time_zones
SELECT id, DATE(FROM_UTC_TIMESTAMP(moved, 'Europe/Berlin')) AS day, moved AT TIME ZONE 'UTC' AT TIME ZONE 'America/New_York' AS there,
  CONVERT_TIMEZONE('UTC', 'Australia/Lord_Howe', moved) AS half, TO_UTC_TIMESTAMP(moved, 'Asia/Kolkata') AS earlier
FROM (SELECT id, TIMESTAMPADD(MINUTE, id * 37, ts) AS moved FROM (SELECT id, TIMESTAMPADD(DAY, CASE id % 2 WHEN 0 THEN 30 ELSE 248 END, ts) AS ts FROM events) AS t) AS m;
-- duckdb:
SELECT id, CAST(TIMEZONE('Europe/Berlin', moved AT TIME ZONE 'UTC') AS DATE) AS day, TIMEZONE('America/New_York', moved AT TIME ZONE 'UTC') AS there,
  TIMEZONE('Australia/Lord_Howe', moved AT TIME ZONE 'UTC') AS half, moved - INTERVAL 330 MINUTE AS earlier
FROM (SELECT id, ts + TO_MINUTES(id * 37) AS moved FROM (SELECT id, ts + TO_DAYS(CASE id % 2 WHEN 0 THEN 30 ELSE 248 END) AS ts FROM events) AS t) AS m;

-- query: session_zone
SET 'time.zone' = 'Europe/Berlin';
SELECT id, HOUR(instant) AS hour, DATE_FORMAT(instant, 'yyyy-MM-dd HH:mm') AS shown, CAST(instant AS DATE) AS day, CAST(instant AS TIMESTAMP) AS there,
  CAST(instant AS VARCHAR) AS text, DATE_TRUNC('day', instant) AS midnight, DATE_TRUNC('hour', instant) AS whole, CAST(CAST(instant AS VARCHAR) AS TIMESTAMP_LTZ) AS again,
  TIMESTAMPADD(DAY, 1, instant) AS tomorrow, instant + INTERVAL '1' MONTH AS later, TIMESTAMPDIFF(DAY, TIMESTAMP_LTZ '2012-12-31 12:00:00', instant) AS days,
  instant >= '2013-01-31 07:00:00' AS since, instant < DATE '2013-09-06' AS before
FROM (SELECT id, moved AT TIME ZONE 'UTC' AS instant FROM (SELECT id, TIMESTAMPADD(MINUTE, id * 37, ts) AS moved FROM
  (SELECT id, TIMESTAMPADD(DAY, CASE id % 2 WHEN 0 THEN 30 ELSE 248 END, ts) AS ts FROM events) AS t) AS m) AS z;
-- duckdb:
SELECT id, HOUR(there) AS hour, STRFTIME(there, '%Y-%m-%d %H:%M') AS shown, CAST(there AS DATE) AS day, there,
  STRFTIME(there, '%Y-%m-%d %H:%M:%S') || CASE WHEN MICROSECOND(there) % 1000000 = 0 THEN '' ELSE RTRIM(STRFTIME(there, '.%f'), '0') END AS text,
  TIMEZONE('Europe/Berlin', DATE_TRUNC('day', there)) AS midnight, DATE_TRUNC('hour', instant) AS whole, TIMEZONE('Europe/Berlin', there) AS again,
  TIMEZONE('Europe/Berlin', there + INTERVAL 1 DAY) AS tomorrow, TIMEZONE('Europe/Berlin', there + INTERVAL 1 MONTH) AS later,
  DATE_SUB('day', TIMESTAMP '2012-12-31 12:00:00', there) AS days, there >= TIMESTAMP '2013-01-31 07:00:00' AS since, there < DATE '2013-09-06' AS before
FROM (SELECT id, instant, TIMEZONE('Europe/Berlin', instant) AS there FROM (SELECT id, ts + TO_MINUTES(id * 37) AS moved, moved AT TIME ZONE 'UTC' AS instant FROM
  (SELECT id, ts + TO_DAYS(CASE id % 2 WHEN 0 THEN 30 ELSE 248 END) AS ts FROM events) AS t) AS m) AS z;
