-- error: 'words' in quotes is the path of a file, and words is a table; write FROM words
-- at: 'words'
SELECT word FROM 'words';
