-- error: BETWEEN has no AND before OR; write BETWEEN 1 AND 2
-- at: OR
SELECT word FROM words WHERE n BETWEEN 1 OR 2;
