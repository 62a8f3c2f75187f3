-- error: the hint OPTIONS is not supported; write the options into WITH of the CREATE TABLE
-- at: 'path' = 'others'
SELECT word FROM words /*+ OPTIONS('path' = 'others') */;
