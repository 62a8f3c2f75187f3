"""Queries bound to the logical plan: one file a construct."""
