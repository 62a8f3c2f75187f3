"""The query that a command is given: a file, or text of -e or standard input."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ouzel.errors import OuzelError, QueryError

if TYPE_CHECKING:
    from ouzel.session import Job

STDIN = Path("-")
_BEGINNINGS = ("SELECT", "WITH", "CREATE", "INSERT", "VALUES", "SET", "EXPLAIN", "DESCRIBE", "SHOW", "RECONCILE")
"""How statements begin, in a text that is taken for the name of a file."""

QueryArgument = Annotated[
    Path | None,
    typer.Argument(metavar="FILE.sql", help="The query; paths in it are relative to it. - is standard input."),
]
Execute = Annotated[
    list[str],
    typer.Option(
        "--execute",
        "-e",
        metavar="SQL",
        help="The query itself, instead of a file; paths in it are relative to this directory. Several are one after the other.",
    ),
]


@dataclass(frozen=True)
class QuerySource:
    """A file of SQL, or its text, whose paths are then relative to the working directory."""

    file: Path | None = None
    text: str = ""

    @property
    def directory(self) -> Path:
        """Where relative paths start."""
        return self.file.resolve().parent if self.file else _working_directory()

    def load(self, pairs: Sequence[tuple[str, str]], may_only_tell: bool = False) -> Job:
        """Compile and plan it; `pairs` are settings that win over its own. `may_only_tell`: it may consist of DESCRIBE and SHOW alone.

        Raises:
            QueryError: the query is wrong or not supported.
            PlanError: it cannot be packed.
        """
        from ouzel import session

        job = (
            session.load(self.file, pairs)
            if self.file
            else session.load_text(self.text, self.directory, "query", pairs)
        )
        if not job.program.sinks and not may_only_tell:
            raise QueryError(
                "the query asks for nothing that runs", instead="end it with SELECT ..., or with INSERT INTO"
            )
        return job


def _working_directory() -> Path:
    try:
        return Path.cwd()
    except FileNotFoundError:
        raise OuzelError("the working directory has been removed; `cd` to one that is there") from None


def _text_of(argument: str) -> str:
    """An argument as text: where the locale is not UTF-8 Python keeps its bytes as halves of surrogate pairs."""
    try:
        return os.fsencode(argument).decode()
    except UnicodeDecodeError as error:
        raise QueryError(f"the query behind -e is not UTF-8 text: {error.reason} at byte {error.start}") from error
    except UnicodeEncodeError:  # no shell has given it
        return argument


def _join_texts(texts: Sequence[str]) -> str:
    """Several texts as one. Each begins on the line behind that of the one before it, so that an error names the line that is meant."""
    ends = (";\n" if "--" not in text.rpartition("\n")[2] else "\n;\n" for text in texts[:-1])
    return "".join(text + end for text, end in zip(texts, [*ends, ""], strict=True))


def is_sql(argument: str) -> bool:
    """Whether what stands for a file is a statement, and no file is called so."""
    words = argument.split(maxsplit=1)
    return len(words) == 2 and words[0].upper() in _BEGINNINGS and not Path(argument).exists()


def _quote(text: str) -> str:
    """The text as an argument for a shell; in double quotes where they do, for SQL itself has the single ones."""
    return shlex.quote(text) if set(text) & set('"$`\\!') else f'"{text}"'


def read_query(file: Path | None, texts: Sequence[str]) -> QuerySource:
    """The query that the command line names; standard input is read to its end.

    Raises:
        typer.BadParameter: it names none, or both a file and a text, or a program in Python.
        QueryError: standard input, or what stands behind -e, is not text.
    """
    if bool(file) == bool(texts):
        told = 'there is no query; write FILE.sql, -e "SELECT ..." or -'
        if file is not None:
            told = f'there are two queries, {file} and that behind -e; leave one out, or give both as one: -e "$(cat {file})" -e ...'
        raise typer.BadParameter(told, param_hint="FILE.sql or -e")
    if file is not None and file.suffix == ".py":
        problem = f"{file} is a program in Python, and no query; run it by `python {file}`, or by `ouzel submit {file}`"
        raise typer.BadParameter(problem, param_hint="FILE.sql or -e")
    if file is not None and is_sql(str(file)):
        raise typer.BadParameter(
            f"this is a query, and no file of one; write -e {_quote(str(file))}", param_hint="FILE.sql or -e"
        )
    if texts:
        return QuerySource(text=_join_texts(list(map(_text_of, texts))))
    if file != STDIN:
        return QuerySource(file)
    try:
        return QuerySource(text=sys.stdin.buffer.read().decode())
    except UnicodeDecodeError as error:
        raise QueryError(f"standard input is not UTF-8 text: {error.reason} at byte {error.start}") from error
