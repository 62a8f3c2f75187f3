"""Text of others as a terminal or a page may show it."""

from __future__ import annotations


def printable(text: str, kept: str = "") -> str:
    """On one line, and without characters that command a terminal or turn text around, but for those that are `kept`."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() or char in kept else repr(char)[1:-1] for char in text)
