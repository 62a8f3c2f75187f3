-- error: GROUP is a reserved word; did you mean groups?
-- at: group
CREATE TABLE groups (id INT) WITH ('connector' = 'file', 'path' = 'g.csv', 'format' = 'csv');
CREATE TABLE users (id INT) WITH ('connector' = 'file', 'path' = 'u.csv', 'format' = 'csv');
SELECT u.id FROM users AS u JOIN group AS g ON u.id = g.id;
