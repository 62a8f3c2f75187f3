-- error: a text beside a text is not supported; write 'a' || 'b', or a comma between them: 'a', 'b'
-- at: 'a'
SELECT id FROM flights WHERE origin IN ('a' 'b');
