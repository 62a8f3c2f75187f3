-- error: SHOW DATABASES is nothing that can be shown; write SHOW TABLES, SHOW FUNCTIONS, SHOW CONNECTORS or SHOW SETTINGS, each with LIKE 'pattern' or without, or SHOW CREATE TABLE name
-- at: SHOW DATABASES
SHOW DATABASES;
