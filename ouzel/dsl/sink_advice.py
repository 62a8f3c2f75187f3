"""What to write where a program's stream cannot be written as it says: to no table, or to one that takes no changes."""

from __future__ import annotations

from pathlib import PurePath

from ouzel.compiler.catalog import ConnectorTraits
from ouzel.connectors import CONNECTORS

FORMATS = {"csv": "csv", "json": "json", "jsonl": "json", "ndjson": "json", "parquet": "parquet"}
"""What files with such an end hold."""


def advise_of_sink(given: object) -> str:
    """The call that writes to a path, or where none is given, to some file."""
    if callable(given) and type(given).__name__ == "Writing":
        return "call it with what it writes: Sink.print(), or Sink.file('out.csv', format='csv')"
    path = PurePath(given) if isinstance(given, str | PurePath) and str(given).strip() else None
    if path is None or "\n" in str(path):
        return "write stream.write(Sink.file('out.csv', format='csv')), or Sink.print() for the terminal"
    form = FORMATS.get(path.suffix.removeprefix("."), "csv")
    return f"write stream.write(Sink.file({str(path)!r}, format={form!r}))"


def advise_of_changes(table: ConnectorTraits, keyed: bool) -> str:
    """Where records go that change, which this table does not take.

    Args:
        table: the one that was meant.
        keyed: whether they are the pairs of a sum, which have a key.
    """
    option = table.writes.changes_by if table.writes and "retract" in table.modes else None
    what = "write them" if keyed else "write the pairs of sum_by_key themselves, which have a key,"
    by_key = f"{what} to one that replaces rows by key, {_list_replacing()}"
    each = f", or give this one {option[0]}={option[1]!r}, which makes each change a record" if option else ""
    return f"{by_key}{each}; for the answer at the end call table(), and write_csv of that"


def _list_replacing() -> str:
    """The sinks of servers that replace rows by key, as a program calls them."""
    found = sorted(
        f"Sink.{name}" for name, one in CONNECTORS.items() if one.extra and one.writes and "upsert" in one.writes.modes
    )
    return f"{', '.join(found[:-1])} or {found[-1]}"
