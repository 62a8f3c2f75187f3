"""Expressions bound and typed."""
