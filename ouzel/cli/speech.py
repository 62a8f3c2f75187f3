"""What the command line says on stderr: on a terminal lines end between words, elsewhere each sentence is one line."""

from __future__ import annotations

import sys
from itertools import accumulate
from typing import TYPE_CHECKING

from ouzel.printable import printable

if TYPE_CHECKING:
    from rich.console import Console


def speaker() -> Console:
    """The console that writes to stderr."""
    from rich.console import Console

    return Console(stderr=True, highlight=False, soft_wrap=not sys.stderr.isatty())


def say_problem(word: str, text: str, style: str) -> None:
    """Print a sentence behind "error" or "warning", then the line of the query and its carets, which are below each other at any width."""
    from rich.text import Text

    console = speaker()
    sentence, *context = [printable(line, "\t") for line in text.splitlines()]
    console.print(Text.assemble((f"{word}: ", f"bold {style}"), (sentence, style)))
    if len(context) == 2 and "^" in context[1] and not context[1].strip(" \t^") and not console.soft_wrap:
        context = [*around_carets(context[0], context[1], console.width)]
    for line in context:
        console.print(Text(line, style=f"bold {style}" if set(line) <= {" ", "^"} else ""))
    sys.stderr.flush()


def around_carets(line: str, carets: str, width: int) -> tuple[str, str]:
    """A line and the carets below it, or their part around the carets that fits into `width`, which counts wide letters as two."""
    from rich.cells import cell_len, get_character_cell_size, set_cell_size

    line, carets = line.expandtabs(), carets.expandtabs()
    if cell_len(line) <= width:
        return line, carets
    start = max(0, carets.index("^") - width // 3)
    places = [0, *accumulate(get_character_cell_size(letter) for letter in line)]
    first = next(number for number, place in enumerate(places) if place >= start)
    before, room = "…" if first else "", width - 1 - bool(first)
    shown, rest = line[first:], carets[places[first] :]
    behind = "…" if cell_len(shown) > room else ""
    cut = set_cell_size(shown, room) if behind else shown
    return f"{before}{cut}{behind}", f"{' ' * len(before)}{rest[:room]}"
