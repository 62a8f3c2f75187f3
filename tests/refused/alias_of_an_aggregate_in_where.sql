-- error: there is no column mean in flights; mean is an alias of the select list, which WHERE does not see: it is of a group, so write HAVING AVG(delay) ... behind GROUP BY
-- at: mean
SELECT origin, AVG(delay) AS mean FROM flights WHERE mean > 15 GROUP BY origin;
