"""Operators that look at each row by itself."""
