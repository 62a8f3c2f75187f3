-- error: the aggregate LISTAGG is not supported yet; docs/functions.md lists those that are
-- at: LISTAGG(origin)
SELECT LISTAGG(origin) FROM flights;
