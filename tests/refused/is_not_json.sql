-- error: IS NOT JSON is not supported; write NOT JSON_EXISTS(text, '$')
-- at: IS NOT JSON
SELECT id FROM flights WHERE origin IS NOT JSON;
