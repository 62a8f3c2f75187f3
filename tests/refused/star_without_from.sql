-- error: there are no columns: this query reads no table; add FROM
-- at: *
SELECT *;
