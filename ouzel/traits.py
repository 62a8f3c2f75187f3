"""Connectors as the compiler sees them, which imports none: the one place where a connector's row becomes what a plan holds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

from ouzel.compiler.catalog import ConnectorTraits, SinkTraits, SourceTraits
from ouzel.compiler.types import from_polars
from ouzel.connectors.base import Connector, Reads, Replay, Writers, Writes
from ouzel.connectors.options import check_options, in_our_names, literal_secrets, option_of_quoted, why_unwritable


class TraitsByName(Mapping[str, ConnectorTraits]):
    """The table of connectors; one that another package offers is in it, though only our own are listed."""

    def __init__(self, connectors: Mapping[str, Connector]) -> None:
        self._connectors = connectors

    def __getitem__(self, name: str) -> ConnectorTraits:
        return traits_of(self._connectors[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._connectors)

    def __len__(self) -> int:
        return len(self._connectors)


def traits_of(connector: Connector) -> ConnectorTraits:
    """The row as the compiler sees it."""
    reads, writes = connector.reads, connector.writes
    return ConnectorTraits(
        connector.name,
        reads=partial(source_traits, reads) if reads else None,
        writes=sink_traits(writes) if writes else None,
        modes=writes.modes if writes else (),
        filters=reads is not None and reads.filters,
        metadata={key: from_polars(kind) for key, kind in (reads.metadata.items() if reads else ())},
        canonical=partial(in_our_names, connector),
        check=partial(check_options, connector),
        secrets=partial(literal_secrets, connector),
        quoted=partial(option_of_quoted, connector),
        unwritable=partial(why_unwritable, connector),
    )


def source_traits(reads: Reads, options: Mapping[str, str]) -> SourceTraits:
    """What a plan needs to know of a table with these options."""
    return SourceTraits(
        shared=reads.shared,
        at_rest=reads.at_rest,
        changelog=reads.changelog(options),
        by_token=reads.replay is Replay.TOKEN,
        spark=reads.spark,
    )


def sink_traits(writes: Writes) -> SinkTraits:
    """What a plan needs to know of a table that is written."""
    return SinkTraits(
        alone=writes.writers is not Writers.MANY,
        returned=writes.writers is Writers.CALLER,
        spark=writes.spark,
        changes_by=writes.changes_by,
    )
