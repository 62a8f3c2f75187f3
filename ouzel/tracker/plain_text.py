"""Text that processes have written, as a page may show it: no colours, and nothing that commands a terminal or turns text around."""

from __future__ import annotations

from rich.ansi import AnsiDecoder


def printable_text(text: str) -> str:
    """The text, of which only line breaks and tabs are not printable."""
    decoder = AnsiDecoder()
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return "\n".join(_printable(decoder.decode_line(line).plain if "\x1b" in line else line) for line in lines)


def _printable(line: str) -> str:
    return line if line.isprintable() else "".join(_shown(char) for char in line)


def _shown(char: str) -> str:
    return char if char.isprintable() or char == "\t" else repr(char)[1:-1]
