-- error: there is no function OBJECT_CONSTRUCT; write MAP['key', value]
-- at: OBJECT_CONSTRUCT('a', id)
SELECT OBJECT_CONSTRUCT('a', id) AS o FROM flights;
