-- error: the column word is ambiguous; write words.word or u.word
-- at: word
SELECT word FROM words CROSS JOIN UNNEST(ARRAY['a']) AS u (word);
