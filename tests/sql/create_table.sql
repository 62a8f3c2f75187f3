CREATE TABLE events (
  id BIGINT NOT NULL COMMENT 'of the event',
  raw STRING,
  seen TIMESTAMP(3) WITH LOCAL TIME ZONE METADATA FROM 'timestamp' VIRTUAL,
  `partition` BIGINT METADATA VIRTUAL,
  at AS TO_TIMESTAMP(raw),
  size INT AS CHAR_LENGTH(raw),
  nested ROW<a INT, `b c` ARRAY<MAP<STRING, DECIMAL(5, 2)>>>,
  PRIMARY KEY (id) NOT ENFORCED,
  WATERMARK FOR at AS at - INTERVAL '2' SECOND IDLE AFTER INTERVAL '1' MINUTE
) COMMENT 'what happened' WITH ('connector' = 'kafka', topic = 'events', scan.startup-mode = earliest, 'retries' = 5);
CREATE TEMPORARY SOURCE never (ts TIMESTAMP_LTZ(3), WATERMARK FOR ts AS ts IDLE AFTER NEVER) WITH (connector = 'datagen');
CREATE TABLE out (id BIGINT, part BIGINT, size INT, x DECIMAL(5, 2)) WITH ('connector' = 'print');
INSERT INTO out SELECT id, `partition`, size, nested.`b c`[1]['x'] AS x FROM events;
SELECT * FROM never;
