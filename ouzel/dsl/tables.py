"""Where records come from and go to: every connector of the table, by its name. No connector is named here.

Source.file("data/announcements.txt")                                  # lines of text
Source.kafka("clicks", Click, format="json", bootstrap_servers="…")    # dataclasses
Sink.file("late", format="json")
Store.kafka("counts", format="json", bootstrap_servers="…")
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, TypeVar, overload

from ouzel.compiler.catalog import ConnectorTraits
from ouzel.compiler.records import RecordType, hint_of_values, is_whole, record_of
from ouzel.compiler.types import BytesType, VarcharType
from ouzel.connectors import CONNECTORS
from ouzel.connectors.options import list_options
from ouzel.dsl.functions import users_line
from ouzel.dsl.producers import ConnectorTable, GivenRecords, TableRead
from ouzel.errors import QueryError
from ouzel.job import connector_traits

if TYPE_CHECKING:
    from ouzel.dsl.stream import Stream

T = TypeVar("T")


class Reading:
    """A connector as a source: `Source.file` is one."""

    def __init__(self, connector: str) -> None:
        self._connector = connector

    @overload
    def __call__(
        self, subject: str, /, *, columns: Sequence[str] = (), name: str = "", **options: object
    ) -> Stream[str]: ...

    @overload
    def __call__(
        self, subject: str, record: type[T], /, *, columns: Sequence[str] = (), name: str = "", **options: object
    ) -> Stream[T]: ...

    def __call__(
        self, subject: str, record: Any = str, /, *, columns: Sequence[str] = (), name: str = "", **options: object
    ) -> Stream[Any]:
        """Records of this connector.

        Args:
            subject: what it reads: a path, a topic, a queue; of a connector that has none of these just a name.
            record: what a record is; lines of text without it.
            columns: what its columns are called there, in order; by default as the record's fields are.
            name: what EXPLAIN calls it; by default after the subject.
            options: the connector's, with underscores for dots and dashes.

        Raises:
            QueryError: there is no such option, one is missing or wrong, or it cannot be read.
        """
        from ouzel.dsl.stream import Stream

        made = record_of(record)
        table = make_table(self._connector, subject, name, options, columns, made)
        if table.traits.reads is None:
            raise QueryError(f"the connector {self._connector} is only written", instead="read from another one")
        return Stream(TableRead(record=made, place=users_line(), table=table))


class Writing:
    """A connector as a sink or a store: `Sink.file` is one."""

    def __init__(self, connector: str) -> None:
        self._connector = connector

    def __call__(
        self, subject: str, /, *, columns: Sequence[str] = (), name: str = "", **options: object
    ) -> ConnectorTable:
        """Where records go.

        Args:
            subject: what it writes: a path, a topic; of a connector that has none just a name.
            columns: what the columns are to be called, in order; by default as the record's fields are.
            name: what EXPLAIN calls it; by default after the subject.
            options: the connector's, with underscores for dots and dashes.

        Raises:
            QueryError: there is no such option, one is missing or wrong, or it cannot be written.
        """
        table = make_table(self._connector, subject, name, options, columns, None)
        if table.traits.writes is None:
            raise QueryError(f"the connector {self._connector} is only read", instead="write to another one")
        return table


class _Readable(type):
    def __getattr__(cls, connector: str) -> Reading:
        return Reading(_check_known(connector, cls.__name__))

    def __dir__(cls) -> list[str]:
        return sorted({*super().__dir__(), *(name for name in CONNECTORS if CONNECTORS[name].reads)})


class _Writable(type):
    def __getattr__(cls, connector: str) -> Writing:
        return Writing(_check_known(connector, cls.__name__))

    def __dir__(cls) -> list[str]:
        return sorted({*super().__dir__(), *(name for name in CONNECTORS if CONNECTORS[name].writes)})


class Source(metaclass=_Readable):
    """Where records come from: `Source.of([...])`, or `Source.<connector>(...)`."""

    @staticmethod
    def of(records: Iterable[T], record: type[T] | None = None, *, name: str = "records") -> Stream[T]:
        """Records that the program itself holds, for tests and small tables; they are sent with it.

        Raises:
            QueryError: they show no type that columns hold.
        """
        from ouzel.dsl.stream import Stream

        given = tuple(records)
        hint = record if record is not None else hint_of_values(given)
        if not is_whole(hint):
            raise QueryError(
                "the records do not show what type they are", instead="write Source.of(records, tuple[str, int])"
            )
        return Stream(GivenRecords(record=record_of(hint), place=users_line(), name=name, records=given))


class Sink(metaclass=_Writable):
    """Where records go: `Sink.<connector>(...)`."""


class Store(metaclass=_Writable):
    """Where totals by key are kept for others to read: `Store.<connector>(...)`, of one that replaces rows by key or takes them back."""


def _check_known(connector: str, what: str) -> str:
    if connector.startswith("__"):
        raise AttributeError(connector)
    if connector not in connector_traits():
        near = difflib.get_close_matches(connector, list(connector_traits()), 1)
        advice = f"did you mean {what}.{near[0]}?" if near else f"there are {', '.join(connector_traits())}"
        raise QueryError(f"there is no connector '{connector}'", instead=advice)
    return connector


def make_table(
    connector: str,
    subject: str,
    name: str,
    given: Mapping[str, object],
    columns: Sequence[str],
    record: RecordType | None,
) -> ConnectorTable:
    """A table of a connector.

    Raises:
        QueryError: the options do not fit.
    """
    traits, row = connector_traits()[connector], CONNECTORS[connector]
    spelled = {_option(connector, key, given): _text(value) for key, value in given.items()}
    if row.subject and subject:
        spelled.setdefault(row.subject, subject)
    if record is not None and _is_raw(record) and any(option.name == "format" for option in row.options):
        spelled.setdefault("format", "raw")
    options = traits.canonical(spelled) if traits.canonical else spelled
    if traits.check:
        traits.check(options)
    if traits.upserts(options):
        raise QueryError(
            f"a program cannot read '{subject or connector}' as a table whose records replace each other by key",
            instead="leave out changelog_mode, and keep the last of each key; or read the table in SQL",
        )
    _refuse_secrets(traits, options)
    called = name or re.sub(r"\W+", "_", PurePath(subject).stem).strip("_") or connector
    return ConnectorTable(called, traits, tuple(options.items()), tuple(columns))


def _is_raw(record: RecordType) -> bool:
    return len(record.columns) == 1 and isinstance(record.columns[0].type, VarcharType | BytesType)


def _option(connector: str, written: str, given: Mapping[str, object]) -> str:
    """The connector's own spelling of an option: `bootstrap_servers` is 'bootstrap.servers'."""
    shape = {key: str(value) for key, value in given.items()}
    known = [
        name
        for option in list_options(CONNECTORS[connector], shape)
        for name in (option.name, *(alias.name for alias in option.aliases))
    ]
    return next((name for name in known if re.sub(r"[.-]", "_", name) == written), written)


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _refuse_secrets(traits: ConnectorTraits, options: Mapping[str, str]) -> None:
    hidden = sorted(traits.secrets(options)) if traits.secrets else []
    if hidden:
        raise QueryError(
            f"'{hidden[0]}' is a secret, and stands in the program",
            instead="write '${env:NAME}', and put it into the environment",
        )
