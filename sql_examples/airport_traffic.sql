-- Which airports see most of New York's flights, and how many are cancelled? Two streams in one, and two rows out of each flight.
--
--     ouzel run sql_examples/airport_traffic.sql --parallelism 2

CREATE TABLE flights (
  ts        TIMESTAMP(3),
  carrier   VARCHAR,
  origin    VARCHAR,
  dest      VARCHAR,
  dep_delay INT
) WITH ('connector' = 'file', 'path' = 'data/flights.parquet', 'format' = 'parquet');

-- A flight that leaves touches two airports; one that is cancelled, only the first.
CREATE VIEW visits AS
SELECT airport, 'flown' AS fate FROM flights CROSS JOIN UNNEST(ARRAY[origin, dest]) AS ends (airport) WHERE dep_delay IS NOT NULL
UNION ALL
SELECT origin, 'cancelled' FROM flights WHERE dep_delay IS NULL;

SELECT
  airport,
  COUNT(*) FILTER (WHERE fate = 'flown')     AS flown,
  COUNT(*) FILTER (WHERE fate = 'cancelled') AS cancelled
FROM visits
GROUP BY airport
HAVING COUNT(*) > 10000
EMIT CHANGES;
