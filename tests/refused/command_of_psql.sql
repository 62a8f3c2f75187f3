-- error: \d is a command of another shell; write SHOW TABLES, or DESCRIBE name
-- at: \
\d flights
