-- error: EXCEPT is not supported of MAP<VARCHAR, VARCHAR>: it compares rows, and maps are not compared; select MAP_KEYS and MAP_VALUES of it
-- at: SELECT notes FROM flights EXCEPT SELECT notes FROM flights
SELECT notes FROM flights EXCEPT SELECT notes FROM flights;
