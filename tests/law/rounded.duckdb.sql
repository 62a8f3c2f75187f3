-- A fraction of whole numbers, rounded half away from zero without a step in binary: DuckDB's ROUND makes 13.4 of a DOUBLE 13.45.
CREATE MACRO rounded(total, number, digits) AS
  CASE WHEN total < 0 THEN -1 ELSE 1 END * ((2 * abs(total)::HUGEINT * (10 ** digits)::HUGEINT + number) // (2 * number)) / (10 ** digits);
