"""What the command line's parser says of a value that it does not take, in plain words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any, Protocol, runtime_checkable

import typer
from typer.core import TyperGroup

_CHOICE = re.compile(r"'([^']*)' is not one of ((?:'[^']*'(?:, )?)+)\.?")


def in_plain_words(message: str) -> str:
    """The message without the words of the library that checks values, and with the choice that is meant."""
    message = message.removeprefix("Value error, ")
    found = _CHOICE.search(message)
    near = get_close_matches(found[1].lower(), re.findall(r"'([^']*)'", found[2]), 1) if found else []
    return f"{message.removesuffix('.')}; did you mean {near[0]}?" if near else message


_EXTRA = re.compile(r"Got unexpected extra arguments? ?\(s?\)? ?\((.*)\)")
_TAKE_QUERY = ("run", "batch", "explain", "reconcile", "submit")

_PROGRAM = "ouzel.program"
"""By this name the context of a command has the program that it is given, empty if none."""

_FILES = "ouzel.files"
"""By this name it has the files of SQL that the command is given."""

_SPLIT = "ouzel.split"
"""By this name it has a setting whose name and value stand apart."""

_UsageError: type[typer.BadParameter] = typer.BadParameter.__mro__[1]
"""What the parser raises of arguments; typer has a name for its subclass only."""


@runtime_checkable
class _NoSuchOption(Protocol):
    """What the parser raises of an option that the command has not; it has no public name."""

    possibilities: Sequence[str] | None
    ctx: Any


def _leave_out_hidden(error: _NoSuchOption) -> None:
    """Name no option as meant that the help does not name: it is there to be refused."""
    hidden = {name for one in error.ctx.command.params if one.hidden for name in one.opts}
    error.possibilities = [name for name in error.possibilities or () if name not in hidden]


_NO_COMMAND = re.compile(r"No such command '(.*\.sql)'")


def _find_misplaced(error: Any) -> typer.BadParameter | None:
    """The error of arguments in the wrong place, with what to write; None if it is another."""
    told = ""
    if found := _NO_COMMAND.match(error.message):
        told = f"no command is given; did you mean: ouzel run {found[1]}"
    elif _EXTRA.match(error.message) and (split := error.ctx.meta[_SPLIT]):
        option, key, value = split
        told = f"{option} takes KEY=VALUE; write {option} {key}={value}"
    return _UsageError(told, ctx=error.ctx) if told else None


def _find_split(args: Sequence[str]) -> tuple[str, str, str] | None:
    """An option, the name and the value of a setting that stand apart."""
    for option, key, value in zip(args, args[1:], args[2:], strict=False):
        if option in ("--set", "--conf") and "=" not in key and not value.startswith("-"):
            return option, key, value
    return None


def _tell_of_several(message: str, command: str | None, files: Sequence[str]) -> str:
    """What to write instead of arguments behind the one query that a command takes; empty if that is not what the message is of."""
    found = _EXTRA.match(message)
    if not found or command not in _TAKE_QUERY:
        return ""
    named = f"; a name is written as --name {found[1].split()[0]}" if command == "submit" else ""
    several = " ".join(files) if len(files) > 1 else "FIRST.sql SECOND.sql"
    return (
        f"`ouzel {command}` takes one query, and {found[1]} is behind it; give it several files as one: "
        f"cat {several} | ouzel {command} -{named}"
    )


class Commands(TyperGroup):
    """The commands, whose errors of values are said in plain words."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Take the arguments of the group."""
        ctx.meta[_FILES] = [one for one in args if one.endswith(".sql")]
        ctx.meta[_SPLIT] = _find_split(args)
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
            if misplaced := _find_misplaced(error):
                raise misplaced from None
            program, command = ctx.meta[_PROGRAM], ctx.invoked_subcommand
            if isinstance(error, _NoSuchOption):
                _leave_out_hidden(error)
            if not program or error.format_message() != error.message:  # an option of ours is meant
                if told := _tell_of_several(error.message, command, ctx.meta[_FILES]):
                    raise _UsageError(told, ctx=error.ctx) from None
                raise
            called = f"python {program}" if command == "run" else f"ouzel {command} …"
            told = (
                f"{error.message}; a program is given no arguments: let it read a variable of the environment, "
                f"os.environ['INPUT'], and write INPUT=… {called}"
            )
            raise _UsageError(told, ctx=error.ctx) from None
