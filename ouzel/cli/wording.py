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


_PROGRAM = "ouzel.program"
"""By this name the context of a command has the program that it is given, empty if none."""

_UsageError: type[typer.BadParameter] = typer.BadParameter.__mro__[1]
"""What the parser raises of arguments; typer has a name for its subclass only."""


_ONLY_HIDDEN = " (Possible options: --output)"
"""What the parser adds where the one option that is near is `--output` of `run`, which is there to be refused."""


class Commands(TyperGroup):
    """The commands, whose errors of values are said in plain words."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Take the arguments of the group."""
        ctx.meta[_PROGRAM] = next((one for one in args if one.endswith(".py")), "")
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Run the command that the arguments name."""
        try:
            return super().invoke(ctx)
        except typer.BadParameter as error:
            error.message = in_plain_words(error.message)
            raise
        except _UsageError as error:
            program, command = ctx.meta[_PROGRAM], ctx.invoked_subcommand
            is_ours = error.format_message().removesuffix(_ONLY_HIDDEN) != error.message
            if not program or is_ours:
                raise
            called = f"python {program}" if command == "run" else f"ouzel {command} …"
            told = (
                f"{error.message}; a program is given no arguments: let it read a variable of the environment, "
                f"os.environ['INPUT'], and write INPUT=… {called}"
            )
            raise _UsageError(told, ctx=error.ctx) from None
