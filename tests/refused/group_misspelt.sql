-- error: BY does not belong here; did you mean GROUP BY where you wrote GRUOP BY?
-- at: BY
SELECT origin FROM flights GRUOP BY origin;
