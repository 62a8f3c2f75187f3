-- error: there is no column ROWNUM in flights; write LIMIT behind the query
-- at: ROWNUM
SELECT id FROM flights WHERE ROWNUM <= 10;
