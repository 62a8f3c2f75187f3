SELECT
  CASE origin WHEN 'JFK' THEN 1 WHEN 'LGA' THEN 2.5 END AS c1,
  CASE WHEN late THEN 'late' WHEN delay BETWEEN 0 AND 5 THEN 'on time' ELSE NULL END AS c2,
  delay IN (1, 2) AND origin NOT IN ('JFK') OR NOT late AS c3,
  origin LIKE 'J%' AND origin NOT LIKE '_G_' AND carrier LIKE '5!%' ESCAPE '!' AS c4,
  delay IS NULL OR late IS NOT TRUE OR late IS FALSE OR origin IS NOT NULL AS c5,
  delay IS DISTINCT FROM id AND carrier IS NOT DISTINCT FROM origin AS c6,
  -delay + 3 * (delay - 1) / 2 % 7 DIV 2 AS c7,
  fare * 1.5 + 2 AS c8, distance / 1e3 AS c9, -2147483648 AS c10, 3000000000 AS c11,
  CAST(fare AS DOUBLE) AS c12, TRY_CAST(origin AS INT) AS c13, delay::BIGINT AS c14, x'CAFE' AS c15,
  COALESCE(delay, 0) AS c16, NULLIF(origin, '') AS c17, IF(late, 1, 0) AS c18
FROM flights;
