-- error: REFRESH MATERIALIZED VIEW is not supported; a view follows its tables by itself: leave it out
-- at: REFRESH MATERIALIZED
REFRESH MATERIALIZED VIEW v;
