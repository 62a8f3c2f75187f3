"""Files named in place of a table: a path in quotes, or `read_csv('x.csv', delim => ';')`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ouzel.connectors.file import CONNECTOR
from ouzel.connectors.file.content import is_packed
from ouzel.connectors.file.paths import find_files
from ouzel.connectors.formats import FORMATS
from ouzel.connectors.options import ARGUMENTS_ELSEWHERE
from ouzel.errors import QueryError

_FUNCTIONS = {"read_csv": "csv", "read_json": "json", "read_parquet": "parquet", "read_text": "raw"}

_ENDINGS: dict[str, dict[str, str]] = {
    ".csv": {"format": "csv"}, ".tsv": {"format": "csv", "csv.delimiter": "\\t"},
    ".json": {"format": "json"}, ".jsonl": {"format": "json"}, ".ndjson": {"format": "json"},
    ".parquet": {"format": "parquet"}, ".pq": {"format": "parquet"},
    ".txt": {"format": "raw"}, ".log": {"format": "raw"},
}  # fmt: skip
"""What a file's name says of it."""


def open_named(function: str, path: str, arguments: Mapping[str, str], directory: Path) -> dict[str, str] | None:
    """The options of a table over the files; None if no file is named so.

    Raises:
        QueryError: the names of the files do not say what they hold.
    """
    chosen = {"format": _FUNCTIONS[function]} if function else _by_ending(path)
    chosen = chosen or _by_ending(next(iter(find_files(path, directory)), ""))
    if not chosen:
        raise QueryError(
            f"the name '{path}' does not say what is in it",
            instead=f"end it with one of {', '.join(_ENDINGS)}, or write {', '.join(f'{name}(...)' for name in _FUNCTIONS)}",
        )
    return {"path": path, **chosen, **{_option(name, chosen["format"]): value for name, value in arguments.items()}}


def _by_ending(path: str) -> dict[str, str]:
    name = Path(path)
    return _ENDINGS.get((name.with_suffix("") if is_packed(path) else name).suffix.lower(), {})


def _option(argument: str, shape: str) -> str:
    """An argument is an option of the format, without its name before it, or of the table, with _ for each dot."""
    name = ARGUMENTS_ELSEWHERE.get(argument.lower(), argument.lower())
    own = f"{shape}.{name}"
    known = (*FORMATS[shape].options, *CONNECTOR.options)
    return own if any(option.name == own for option in known) else name.replace("_", ".")
