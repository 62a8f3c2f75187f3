-- error: IS JSON is not supported; write JSON_EXISTS(text, '$')
-- at: IS JSON
SELECT id FROM flights WHERE origin IS JSON OBJECT;
