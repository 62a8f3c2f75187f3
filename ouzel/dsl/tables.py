"""Where records come from and go to: every connector of the table, by its name. No connector is named here.

Source.file("data/announcements.txt")                                  # lines of text
Source.kafka("clicks", Click, format="json", bootstrap_servers="…")    # dataclasses
Sink.file("late", format="json")
Store.kafka("counts", format="json", bootstrap_servers="…")
"""

from __future__ import annotations

import inspect
import re
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import wraps
from itertools import islice
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, TypeVar, cast, overload

from ouzel.callers import users_line
from ouzel.compiler.catalog import ConnectorTraits, QueryWarning
from ouzel.compiler.records import RecordType, hint_of_values, is_whole, record_of, row_record, spell, why_no_hint
from ouzel.compiler.sql.statements.ddl import name_text
from ouzel.compiler.types import BytesType, VarcharType
from ouzel.connectors import CONNECTORS
from ouzel.connectors.options import list_options
from ouzel.dsl.advice import advise_of_type, check_decimals, check_records, check_text_name, spelled_in_python
from ouzel.dsl.known_connectors import check_known, check_record_type
from ouzel.dsl.producers import ConnectorTable, GivenRecords, Queried, TableRead
from ouzel.errors import QueryError
from ouzel.job import connector_traits

if TYPE_CHECKING:
    from ouzel.dsl.stream import Stream

_LINES = object()
"""That no type of records was given."""

MOST_GIVEN = 5_000_000
"""So many records a program holds at most."""

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])


class Reading:
    """A connector as a source: `Source.file` is one."""

    def __init__(self, connector: str) -> None:
        self._connector = connector

    @overload
    def __call__(
        self, subject: str | PurePath = "", /, *, columns: Sequence[str] = (), name: str = "", **options: object
    ) -> Stream[str]: ...

    @overload
    def __call__(
        self,
        subject: str | PurePath,
        record: type[T],
        /,
        *,
        columns: Sequence[str] = (),
        name: str = "",
        **options: object,
    ) -> Stream[T]: ...

    def __call__(
        self,
        subject: str | PurePath = "",
        record: Any = _LINES,
        /,
        *unasked: object,
        columns: Sequence[str] = (),
        name: str = "",
        **options: object,
    ) -> Stream[Any]:
        """Records of this connector.

        Args:
            subject: what it reads: a path, a topic, a queue; of a connector that has none of these just a name.
            record: what a record is; lines of text without it, of a table that knows its columns named tuples.
            columns: what its columns are called there, in order; by default as the record's fields are.
            name: what EXPLAIN calls it; by default after the subject.
            options: the connector's, with underscores for dots and dashes.

        Raises:
            QueryError: there is no such option, one is missing or wrong, or it cannot be read.
        """
        from ouzel.dsl.stream import Stream

        subject = _named(self._connector, subject)
        if record is _LINES:
            record = _type_of_lines(self._connector, subject, columns, options)
        record = check_record_type(self._connector, subject, record, options)
        if unasked or isinstance(record, str):
            given = ", ".join(spell(one) if isinstance(one, type) else f"{one!r:.60}" for one in (record, *unasked))
            raise QueryError(
                f"Source.{self._connector} takes what it reads, then the type of a record, and options by their names, not {given}",
                instead=f"write Source.{self._connector}({subject!r}, Order, format='csv')",
            )
        if connector_traits()[self._connector].defines:
            return _defined(self._connector, name or subject, None if record is str else record, columns, options)
        made = record_of(record)
        table = make_table(self._connector, subject, name, options, columns, made)
        if table.traits.reads is None:
            raise QueryError(f"the connector {self._connector} is only written", instead="read from another one")
        return Stream(TableRead(record=made, place=users_line(), table=table))


def _type_of_lines(connector: str, subject: str, columns: Sequence[str], options: Mapping[str, object]) -> type:
    """What records are where nobody says it: lines of text.

    Raises:
        QueryError: the format gives objects with fields, whose names only a type can say.
    """
    if not columns and not connector_traits()[connector].defines and str(options.get("format", "")).endswith("json"):
        raise QueryError(
            f"Source.{connector} is given no type of its records, and format={options['format']!r} gives objects with fields",
            instead=f"write Source.{connector}({subject!r}, Order, …), where Order is a dataclass with these fields, "
            "or str for a field 'value'",
        )
    return str


def _named(connector: str, subject: object) -> str:
    """What a table reads or writes, as text.

    Raises:
        QueryError: it is neither a text nor a path.
    """
    if isinstance(subject, str | PurePath):
        return str(subject)
    if isinstance(subject, list | tuple) and subject:
        raise QueryError(
            f"what the connector {connector} reads or writes is one text, and {subject!r:.60} is none",
            instead=f"write a pattern, {connector}('data/*.csv', …), or merge a source of each",
        )
    shown = spell(subject) if isinstance(subject, type) else f"{subject!r:.60}"
    rest = f", {shown}" if isinstance(subject, type) else ""
    raise QueryError(
        f"what the connector {connector} reads or writes is a text, and {shown} is none",
        instead=f"write its path or name first: {connector}('path or name'{rest}, …)",
    )


def _defined(
    connector: str, name: str, record: Any, columns: Sequence[str], given: Mapping[str, object]
) -> Stream[Any]:
    """Records of a table that stands for a query over others.

    Raises:
        QueryError: it stands for nothing, or its columns are not those of the record.
    """
    from ouzel.dsl.plan import schema_of_query
    from ouzel.dsl.stream import Stream

    traits = connector_traits()[connector]
    assert traits.defines is not None, "it was asked for"
    options = {_option(connector, key, given): _text(value) for key, value in given.items()}
    if traits.check:
        traits.check(options)
    called = re.sub(r"\W+", "_", name).strip("_") or connector
    made, notes = traits.defines(called, options, {})
    for note in notes:
        warnings.warn(note, QueryWarning, stacklevel=3)
    whole = f"{made}; SELECT * FROM {name_text(called)}"
    own = row_record(schema_of_query(whole, {}))
    if record is None:
        return Stream(Queried(whole, {}, record=own, place=users_line()))
    wanted = record_of(record)
    names = tuple(columns) or wanted.schema.names
    kinds = {field.name: field.type for field in own.columns}
    found = [(column, kinds.get(column)) for column in names]
    if found != [(column, field.type) for column, field in zip(names, wanted.columns, strict=True)]:
        has = ", ".join(f"{field.name} {field.type}" for field in own.columns)
        raise QueryError(
            f"the records of '{name}' are {spell(wanted.hint)}, and its columns are {has}",
            instead="leave out the type of records, or name and type its fields so",
        )
    items = ", ".join(
        f"{name_text(column)} AS {name_text(field.name)}" for column, field in zip(names, wanted.columns, strict=True)
    )
    return Stream(Queried(f"{made}; SELECT {items} FROM {name_text(called)}", {}, record=wanted, place=users_line()))


class Writing:
    """A connector as a sink: `Sink.file` is one."""

    def __init__(self, connector: str) -> None:
        self._connector = connector

    def __repr__(self) -> str:
        return f"<the sink {self._connector}, which is not called>"

    def __call__(
        self,
        subject: str | PurePath = "",
        /,
        *unasked: object,
        columns: Sequence[str] = (),
        name: str = "",
        **options: object,
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
        if unasked:
            raise QueryError(
                f"a sink takes where it writes, and options by their names, not {unasked[0]!r:.60}",
                instead=f"the records say their type: write {self._connector}({subject!r}, format='csv')",
            )
        table = make_table(self._connector, _named(self._connector, subject), name, options, columns, None)
        if table.traits.writes is None:
            raise QueryError(f"the connector {self._connector} is only read", instead="write to another one")
        return table


class KeepingTotals:
    """A connector as a store: `Store.redis` is one."""

    def __init__(self, connector: str) -> None:
        self._connector = connector

    def __call__(
        self,
        subject: str | PurePath = "",
        /,
        *,
        merge: bool = False,
        columns: Sequence[str] = (),
        name: str = "",
        **options: object,
    ) -> ConnectorTable:
        """Where totals by key are kept.

        Args:
            subject: what it writes: a path, a topic; of a connector that has none just a name.
            merge: whether values are added to what the store has, which outlives the program; else it is given the program's totals.
            columns: what the columns are to be called, in order; by default as the record's fields are.
            name: what EXPLAIN calls it; by default after the subject.
            options: the connector's, with underscores for dots and dashes.

        Raises:
            QueryError: there is no such option, one is missing or wrong, or it cannot be written, or cannot add up.
        """
        table = Writing(self._connector)(subject, columns=columns, name=name, **options)
        if merge and "merge" not in table.traits.modes:
            able = ", ".join(name for name, traits in connector_traits().items() if "merge" in traits.modes)
            raise QueryError(
                f"the connector {self._connector} adds nothing to what it keeps",
                instead=f"leave out merge=True, or take a store of {able}",
            )
        return replace(table, merges=merge)


class _Readable(type):
    @property
    def __doc__(cls) -> str:  # type: ignore[override]  # a text of its own, made when it is asked for
        names = (name for name, row in CONNECTORS.items() if row.reads or row.defines)
        return _described(cls, ", record type, option=value, ...", names)

    if not TYPE_CHECKING:

        def __call__(cls, *given: object, **options: object) -> object:
            what = repr(given[0]) if given and isinstance(given[0], str) else "'path'"
            advice = f"write Source.file({what}, format='csv'), with the connector's name, or Source.of([...]) for records of the program"
            raise TypeError(f"a source is made by its connector, and not by Source itself; {advice}")

    def __getattr__(cls, connector: str) -> Reading:
        return Reading(check_known(connector, cls.__name__))

    def __dir__(cls) -> list[str]:
        return sorted({*super().__dir__(), *(name for name, row in CONNECTORS.items() if row.reads or row.defines)})


class _Writable(type):
    @property
    def __doc__(cls) -> str:  # type: ignore[override]  # a text of its own, made when it is asked for
        return _described(cls, ", option=value, ...", (name for name, row in CONNECTORS.items() if row.writes))

    def __getattr__(cls, connector: str) -> Writing:
        return Writing(check_known(connector, cls.__name__))

    def __dir__(cls) -> list[str]:
        return sorted({*super().__dir__(), *(name for name in CONNECTORS if CONNECTORS[name].writes)})


class _Keepable(_Writable):
    __doc__ = _Writable.__dict__["__doc__"]  # a class has one of its own, if only None

    def __getattr__(cls, connector: str) -> KeepingTotals:  # type: ignore[override]
        return KeepingTotals(check_known(connector, cls.__name__))


def _checks_arguments(of: F) -> F:
    """Source.of, which says how it is called where it is given its records one by one, or none."""

    @wraps(of)
    def told(*given: Any, **named: Any) -> Any:
        try:
            inspect.signature(of).bind(*given, **named)
        except TypeError as error:
            shown = ", ".join(f"{one!r:.20}" for one in given[:3]) or "..."
            advice = f"write Source.of([{shown}{', ...' if len(given) > 3 else ''}])"
            raise QueryError(
                f"Source.of takes a list of records, and the type of one: {error}", instead=advice
            ) from None
        return of(*given, **named)

    return cast(F, told)


class Source(metaclass=_Readable):
    """Where records come from: `Source.of([...])`, or `Source.<connector>(...)`."""

    @staticmethod
    @_checks_arguments
    def of(records: Iterable[T], record: type[T] | None = None, *, name: str = "records") -> Stream[T]:
        """Records that the program itself holds, for tests and small tables; they are sent with it.

        Raises:
            QueryError: they show no type that columns hold, or are no records.
        """
        from ouzel.dsl.stream import Stream

        check_records(records)
        check_text_name("the name of a source", name)
        given = _hold(records)
        hint = record if record is not None else hint_of_values(given)
        if not is_whole(hint):
            why = why_no_hint(given)
            if why and isinstance(given[0], dict):
                raise QueryError(
                    f"a dict is a MAP, whose values are of one type, and {why}",
                    instead="make a dataclass or a named tuple of each: Record(**fields)",
                )
            if why and isinstance(given[0], list):
                raise QueryError(
                    f"a list is an ARRAY, whose parts are of one type, and {why}",
                    instead="make a tuple of each: Source.of([tuple(record) for record in records])",
                )
            raise QueryError(why or "the records do not show what type they are", instead=advise_of_type(why))
        made = record_of(hint)
        check_decimals(made, given)
        return Stream(GivenRecords(record=made, place=users_line(), name=name, records=given))


def _hold(records: Iterable[T]) -> tuple[T, ...]:
    """All records of an iterable that ends.

    Raises:
        QueryError: it has given more than a program sends with it, and goes on.
    """
    held = tuple(islice(records, MOST_GIVEN + 1))
    if len(held) > MOST_GIVEN:
        raise QueryError(
            f"Source.of holds the records of the program, and these are more than {MOST_GIVEN:,}",
            instead="write Source.of(list(islice(records, 1_000))), put them into a file, or write an ouzel.Spout for what has no end",
        )
    return held


class Sink(metaclass=_Writable):
    """Where records go: `Sink.<connector>(...)`."""


class Store(metaclass=_Keepable):
    """Where totals by key are kept for others to read: `Store.<connector>(...)`, of one that replaces rows by key or takes them back."""


def _described(cls: type, shape: str, names: Iterable[str]) -> str:
    """What `help` shows: the class's own words, and each connector with its options."""
    from ouzel.dsl.described import describe_connectors

    own = cls.__dict__.get("__doc__") or ""
    return f"{own}\n\n{describe_connectors(cls.__name__, shape, names)}"


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
    if record is not None and _is_raw(record):
        formats = next((option for option in row.options if option.name == "format"), None)
        if formats and not any(alias.name in spelled for alias in formats.aliases):
            spelled.setdefault("format", "raw")
    options = _checked(connector, spelled)
    if traits.upserts(options):
        raise QueryError(
            f"a program cannot read '{subject or connector}' as a table whose records replace each other by key",
            instead="leave out changelog_mode, and keep the last of each key; or read the table in SQL",
        )
    _refuse_secrets(traits, options)
    called = name or re.sub(r"\W+", "_", PurePath(subject).stem).strip("_") or connector
    return ConnectorTable(called, traits, tuple(options.items()), tuple(columns))


def _checked(connector: str, written: Mapping[str, str]) -> Mapping[str, str]:
    """The options in the connector's own spelling.

    Raises:
        QueryError: they do not fit; says so in Python's spelling.
    """
    traits = connector_traits()[connector]
    try:
        options = traits.canonical(written) if traits.canonical else written
        if traits.check:
            traits.check(options)
    except QueryError as error:
        names = [option.name for option in list_options(CONNECTORS[connector], written)]
        raise spelled_in_python(error, names) from None
    return options


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
