"""Operators that see rows in an order: OVER, first rows, Top-N."""
