-- error: JSON_ARRAY is not supported; select ARRAY[a, b], which a table with 'format' = 'json' writes as JSON
-- at: JSON_ARRAY(word)
SELECT JSON_ARRAY(word) AS words FROM words;
