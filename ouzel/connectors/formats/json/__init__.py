"""JSON: one object a record."""
