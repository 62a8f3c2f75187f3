"""Commands that look again and again until Ctrl-C."""

from __future__ import annotations

import time
from collections.abc import Callable

import typer

from ouzel.cli.failure import Exit


def repeat(look: Callable[[], None], every_s: float, once: bool) -> None:
    """Look every so many seconds, or once.

    Raises:
        typer.Exit: Ctrl-C was pressed.
    """
    try:
        while True:
            look()
            if once:
                return
            time.sleep(every_s)
    except KeyboardInterrupt:
        raise typer.Exit(Exit.INTERRUPTED) from None
