-- query: folders_all
SELECT day, gate, n, who FROM visits;

-- query: folders_of_some_days
SELECT gate, who, COUNT(*) AS visits, SUM(n) AS total FROM visits WHERE day >= DATE '2024-02-29' AND gate <> 'a/b' AND n > 5 GROUP BY gate, who;

-- query: folders_of_none
SELECT n, who FROM visits WHERE day > DATE '2030-01-01';

-- query: folders_without_a_value
SELECT day, COUNT(*) AS visits, MAX(n) AS most FROM visits WHERE gate IS NULL OR gate IN ('100% é', '日本') GROUP BY day;

-- query: folders_alone
SELECT day, COUNT(DISTINCT gate) AS gates FROM visits GROUP BY day;

-- query: folders_joined
SELECT a.gate, COUNT(*) AS n FROM visits AS a JOIN visits AS b ON a.day = b.day AND a.n = b.n AND a.gate = b.gate
WHERE a.day = DATE '2024-02-28' AND b.n < 50 GROUP BY a.gate;
