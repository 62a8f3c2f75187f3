-- error: origin does not belong here; keys stand in parentheses: write ROLLUP (origin, ...)
-- at: origin
SELECT origin, carrier, COUNT(*) AS n FROM flights GROUP BY ROLLUP origin, carrier;
