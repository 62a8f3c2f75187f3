"""Operators that keep something for each key: aggregates, sessions, lifetimes."""
