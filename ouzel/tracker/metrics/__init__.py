"""Metrics of runs: their history, Heron's queries of it, and where it is sent."""
