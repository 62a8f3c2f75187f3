"""Text that processes have written, as a page may show it: no colours, and nothing that commands a terminal or turns text around."""

from __future__ import annotations

from rich.ansi import AnsiDecoder

from ouzel.printable import printable


def printable_text(text: str) -> str:
    """The text, of which only line breaks and tabs are not printable."""
    decoder = AnsiDecoder()
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return "\n".join(printable(decoder.decode_line(line).plain if "\x1b" in line else line, "\t") for line in lines)
