"""Ouzel."""
