"""What the command line's parser says of a value that it does not take, in plain words."""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import Any

import typer
from typer.core import TyperGroup

_CHOICE = re.compile(r"'([^']*)' is not one of ((?:'[^']*'(?:, )?)+)\.?")


def in_plain_words(message: str) -> str:
    """The message without the words of the library that checks values, and with the choice that is meant."""
    message = message.removeprefix("Value error, ")
    found = _CHOICE.search(message)
    near = get_close_matches(found[1].lower(), re.findall(r"'([^']*)'", found[2]), 1) if found else []
    return f"{message.removesuffix('.')}; did you mean {near[0]}?" if near else message


class Commands(TyperGroup):
    """The commands, whose errors of values are said in plain words."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command that the arguments name."""
        try:
            return super().invoke(ctx)
        except typer.BadParameter as error:
            error.message = in_plain_words(error.message)
            raise
