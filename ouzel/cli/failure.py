"""What the command line says of an error, and its exit code."""

from __future__ import annotations

import os
import sys
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum

import typer

from ouzel.cli.speech import say_problem
from ouzel.compiler.catalog import QueryWarning
from ouzel.errors import OuzelError, PlanError, QueryError, SubmissionError


class Exit(IntEnum):
    """Exit codes of every command."""

    ANSWERED = 0
    FAILED = 1
    WRONG_QUERY = 2
    DIFFERENT = 3
    STATE_LOST = 4
    INTERRUPTED = 130


@contextmanager
def report_errors(debug: bool) -> Iterator[None]:
    """Turn any exception raised inside into one sentence on stderr and an exit code; with `debug` the stack trace comes first."""
    warnings.simplefilter("always", QueryWarning)
    warnings.showwarning = _show_warning
    try:
        yield
    except (typer.Exit, typer.BadParameter, SystemExit):
        raise
    except (
        BrokenPipeError
    ):  # whoever read our answer has had enough (`| head`): stop without a word, and let no flush at exit complain
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(Exit.ANSWERED) from None
    except BaseException as error:  # a panic of Polars is no Exception
        if debug:
            traceback.print_exc()
        code, text = describe_error(error)
        say_error(text)
        raise typer.Exit(code) from None


def _show_warning(message: Warning | str, *place: object, **more: object) -> None:
    say_problem("warning", str(message), "yellow")


def describe_error(error: BaseException) -> tuple[Exit, str]:
    """Exit code and text for an error."""
    match error:
        case QueryError() | PlanError() | SubmissionError():
            return Exit.WRONG_QUERY, str(error)
        case OuzelError():
            return Exit.FAILED, str(error)
        case KeyboardInterrupt():
            return Exit.INTERRUPTED, "interrupted"
        case OSError(strerror=str(reason)):
            where = f"{error.filename}: " if error.filename else ""
            return Exit.FAILED, f"{where}{reason}"
    return (
        Exit.FAILED,
        f"{type(error).__name__}: {error} (this should not have happened; --debug shows where it came from)",
    )


def describe_missing(needs: str, error: ModuleNotFoundError, extra: str) -> str:
    """Which package is missing for something, and how to install it."""
    return f'{needs} {error.name}, which is not installed; write: pip install "ouzel[{extra}]"'


def say_error(text: str) -> None:
    """Print an error on stderr: the sentence in red; the query's line below it as it is, its caret in red."""
    say_problem("error", text or "unknown error", "red")
