-- error: VALUES is not supported: a topology reads tables; use 'connector' = 'datagen' or a file
-- at: VALUES
INSERT INTO lines VALUES ('a', 1);
