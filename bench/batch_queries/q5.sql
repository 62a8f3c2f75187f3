WITH counts AS (
  SELECT auction, count(*) AS num, window FROM bid GROUP BY auction, window(dateTime, '10 seconds', '2 seconds')
)
SELECT auction, num
FROM counts JOIN (SELECT max(num) AS most, window AS of FROM counts GROUP BY window) ON window = of AND num >= most
