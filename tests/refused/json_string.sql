-- error: JSON_STRING is not supported; select the value itself, which a table with 'format' = 'json' writes as JSON
-- at: JSON_STRING(word)
SELECT JSON_STRING(word) AS word FROM words;
