"""Whether a source or sink of a program is a connector's, and what to write where it is named or typed as elsewhere."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from typing import Any

from ouzel.compiler.raised import list_fields
from ouzel.connectors.formats import FORMATS
from ouzel.errors import QueryError
from ouzel.job import connector_traits


class UnknownConnector(QueryError, AttributeError):
    """There is no such connector; who only looks whether there is an attribute finds none."""


_NO_SOURCES = {
    "range": "write Source.of(range(10))",
    "rate": "write Source.datagen('name', Row, rows_per_second=10, …)",
    "socket": "a socket gives nothing again after a crash, and is no source; write Source.kafka('topic', Row, …), or an ouzel.Spout",
}
"""Sources of other libraries, and what to write here."""


def check_known(connector: str, what: str) -> str:
    """The name of a connector, that `what` has.

    Raises:
        UnknownConnector: there is none; says what to write.
    """
    if connector.startswith("_"):  # pydoc and others ask for what a class may have
        raise AttributeError(connector)
    if connector not in connector_traits():
        near = difflib.get_close_matches(connector, list(connector_traits()), 1)
        advice = f"did you mean {what}.{near[0]}?" if near else f"there are {', '.join(connector_traits())}"
        if connector in FORMATS:
            raise UnknownConnector(
                f"{connector} is a format, and no connector", instead=f"write {what}.file('path', format='{connector}')"
            )
        advice = _NO_SOURCES.get(connector, advice) if what == "Source" else advice
        if connector in ("console", "stdout", "log", "terminal") and what == "Sink":
            advice = "write Sink.print()"
        form = re.sub("^(read|from|write|to)_", "", connector)
        if form in FORMATS:
            advice = f"write {what}.file('path', format='{form}')"
        elif what == "Source" and form in (
            "list",
            "collection",
            "iterable",
            "elements",
            "records",
            "dicts",
            "pandas",
            "polars",
        ):
            advice = "write Source.of([…]) of the records"
        raise UnknownConnector(f"there is no connector '{connector}'", instead=advice)
    return connector


def check_record_type(connector: str, subject: str, record: Any, options: Mapping[str, object]) -> Any:
    """The type of a source's records.

    Raises:
        QueryError: it is given as an option, or by a record of it.
    """
    named = next((name for name, given in options.items() if isinstance(given, type)), "")
    kind = options[named] if named else type(record) if list_fields(record) else None
    if isinstance(kind, type):
        told = (
            f"is no option, {named}={kind.__name__}" if named else f"is a class, and {record!r:.60} is a record of it"
        )
        raise QueryError(
            f"the type of a source's records {told}",
            instead=f"write Source.{connector}({subject!r}, {kind.__name__}, …)",
        )
    return record
