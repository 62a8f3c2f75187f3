-- error: something is missing after WHERE
-- at: WHERE
SELECT word FROM words WHERE;
