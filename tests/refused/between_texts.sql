-- error: BETWEEN does not take (BIGINT, VARCHAR, VARCHAR); write CAST(n AS VARCHAR) BETWEEN 'a' AND 'b'
-- at: n BETWEEN 'a' AND 'b'
SELECT word FROM words WHERE n BETWEEN 'a' AND 'b';
