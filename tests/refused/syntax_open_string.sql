-- error: ' is opened here and never closed; write ' where it ends
-- at: '
SELECT 'word FROM words;
