-- error: word is VARCHAR, and windows are cut from a TIMESTAMP; compute one in CREATE TABLE: ts AS TO_TIMESTAMP(...), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
-- at: word
SELECT window_end FROM TUMBLE(TABLE words, DESCRIPTOR(word), INTERVAL '1' MINUTE);
