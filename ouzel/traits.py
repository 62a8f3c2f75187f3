"""Connectors as the compiler sees them: the one place where a connector's row becomes what a plan holds.

It stands at the root because no part below may have it: the compiler imports no connector, and a connector never sees a plan.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

from ouzel.compiler.catalog import (
    AskedTraits,
    ConnectorTraits,
    FoundTable,
    SinkTraits,
    SourceTraits,
    UpsertTraits,
    load_named,
)
from ouzel.compiler.types import Field, Schema, from_arrow, from_polars
from ouzel.connectors.base import Connector, Reads, Replay, SinkDelivery, Upserts, Writers, Writes
from ouzel.connectors.loading import load_part
from ouzel.connectors.lookups import asked_of
from ouzel.connectors.options import (
    GONE,
    check_options,
    in_our_names,
    literal_secrets,
    option_of_quoted,
    replaces_by_key,
    unit_of_epoch,
    why_unwritable,
)
from ouzel.connectors.reading import FoundColumns
from ouzel.errors import ConnectorError


class TraitsByName(Mapping[str, ConnectorTraits]):
    """The table of connectors; one that another package offers is in it, though only our own are listed.

    Relative paths start at `directory`.
    """

    def __init__(self, connectors: Mapping[str, Connector], directory: Path) -> None:
        self._connectors, self._directory = connectors, directory

    def __getitem__(self, name: str) -> ConnectorTraits:
        return traits_of(self._connectors[name], self._directory)

    def __iter__(self) -> Iterator[str]:
        return iter(self._connectors)

    def __len__(self) -> int:
        return len(self._connectors)


def traits_of(connector: Connector, directory: Path) -> ConnectorTraits:
    """The row as the compiler sees it; relative paths start at `directory`."""
    reads, writes = connector.reads, connector.writes
    return ConnectorTraits(
        connector.name,
        reads=partial(source_traits, reads) if reads else None,
        writes=sink_traits(writes) if writes else None,
        modes=writes.modes if writes else (),
        filters=reads is not None and reads.filters,
        upserts=partial(upsert_traits, reads.upserts) if reads and reads.upserts else lambda options: None,
        can_upsert=reads is not None and reads.upserts is not None,
        metadata={key: from_polars(kind) for key, kind in (reads.metadata.items() if reads else ())},
        canonical=partial(in_our_names, connector),
        check=partial(check_options, connector),
        secrets=partial(literal_secrets, connector),
        quoted=partial(option_of_quoted, connector),
        epoch=unit_of_epoch,
        unwritable=partial(why_unwritable, connector),
        infer=partial(find_table, connector, reads.infer, directory) if reads and reads.infer else None,
        functions=connector.functions,
        variants=connector.variants,
        opens=partial(options_of, connector, directory) if connector.opens else None,
        defines=partial(statements_of, connector, directory) if connector.defines else None,
    )


def statements_of(
    connector: Connector,
    directory: Path,
    name: str,
    options: Mapping[str, str],
    tables: Mapping[str, Mapping[str, str]],
) -> tuple[str, list[str]]:
    """The statements that a table is made of, and notes.

    Raises:
        OuzelError: there are none, and why.
    """
    made: tuple[str, list[str]] = load_named(connector.defines)(name, options, directory, tables)
    return made


def find_table(connector: Connector, infer: str, directory: Path, options: Mapping[str, str]) -> FoundTable | None:
    """What a table holds that declares no columns; None where its options do not say enough.

    Raises:
        ConnectorError: it cannot be found out, or a package is not installed that the connector needs.
    """
    found: FoundColumns | None = load_part(connector, infer)(options, directory)
    if found is None:
        return None
    columns = []
    for name, kind in found.columns.items():
        try:
            columns.append(Field(name, from_arrow(kind)))
        except TypeError:
            raise ConnectorError(
                f"column '{name}' is of type {kind}, which SQL has not; declare the other columns"
            ) from None
    return FoundTable(Schema(tuple(columns)), found.options, tuple(found.notes))


def options_of(
    connector: Connector, directory: Path, function: str, path: str, arguments: Mapping[str, str]
) -> dict[str, str] | None:
    """The options of a table that a query names by its path or by a function; None if another connector reads it."""
    options: dict[str, str] | None = load_named(connector.opens)(function, path, arguments, directory)
    return options


def source_traits(reads: Reads, options: Mapping[str, str]) -> SourceTraits:
    """What a plan needs to know of a table with these options."""
    return SourceTraits(
        shared=reads.shared,
        at_rest=reads.at_rest,
        bounded=reads.bounded(options),
        changelog=reads.changelog(options),
        by_token=reads.replay is Replay.TOKEN,
        kept=reads.replay is Replay.OFFSET or reads.kept(options),
        spark=reads.spark,
        asked=AskedTraits(*asked_of(options)) if reads.side_table.asks else None,
        fixed_tasks=why_fixed_tasks(reads, options),
    )


def why_fixed_tasks(reads: Reads, options: Mapping[str, str]) -> str:
    """Why other tasks cannot go on where those that have read a table stand; empty if they can: each partition is known by its id."""
    if reads.replay is Replay.TOKEN:
        return "what a task has taken from a queue is its own until it is acknowledged"
    if reads.cut_by and reads.cut_by not in options:
        return f"each of its tasks reads a partition of its own, for the table's options do not say how many '{reads.cut_by}' there are"
    if reads.at_rest and reads.grows(options):
        return "each of its tasks has noted what it knows of the files that it follows, and no other task finds that"
    return ""


def upsert_traits(upserts: Upserts, options: Mapping[str, str]) -> UpsertTraits | None:
    """How a table with these options is read if its records replace each other by key."""
    if not replaces_by_key(options):
        return None

    def beside(keys: Sequence[str]) -> dict[str, str]:
        told = {upserts.keys: ",".join(keys)} if upserts.keys else {}
        return {name: value for name, value in {**upserts.options, **told}.items() if name not in options}

    return UpsertTraits(upserts.order, upserts.gone, options.get(GONE, ""), beside)


def sink_traits(writes: Writes) -> SinkTraits:
    """What a plan needs to know of a table that is written."""
    return SinkTraits(
        alone=writes.writers is not Writers.MANY,
        returned=writes.writers is Writers.CALLER,
        once=writes.delivery is not SinkDelivery.AT_LEAST_ONCE,
        spark=writes.spark,
        changes_by=writes.changes_by,
        replaces=writes.replaces,
        merged=writes.merged,
        publishes=bool(writes.publisher),
    )
