"""Tables that are asked by key: what such a table is, and the options that they have in common, under Flink's names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple, Protocol

from ouzel.connectors.base import Option
from ouzel.connectors.reading import Unreachable
from ouzel.errors import QueryError
from ouzel.spans import parse_span

if TYPE_CHECKING:
    import polars as pl

ROWS, EXPIRES, CACHE, KEY, TIMEOUT = (
    "lookup.partial-cache.max-rows",
    "lookup.partial-cache.expire-after-write",
    "lookup.cache",
    "key.fields",
    "lookup.timeout.ms",
)

LOOKUP_OPTIONS = (
    Option(KEY, "The column by which it is asked; by default the PRIMARY KEY."),
    Option(CACHE, "Whether answers are remembered.", "NONE", choices=("NONE", "PARTIAL")),
    Option(ROWS, "Of how many keys a task remembers the answer.", "10000", kind="integer"),
    Option(EXPIRES, "How long it remembers one, as `10 min`; in ms, s, min, h or d.", "1 min"),
    Option(TIMEOUT, "How long to ask again while there is no answer, before the run fails.", "300000", kind="integer"),
)


class Asked(NamedTuple):
    """By which column a table is asked, and of how many keys an answer is remembered for how long; 0 keys if none is."""

    key: str
    rows: int
    expires_ms: int


class AskedTable(Protocol):
    """A table that is asked. One per task."""

    def ask(self, keys: pl.Series) -> pl.DataFrame | Unreachable:
        """The rows of these keys, which are not NULL and each given once; at once, or that nobody answered.

        Raises:
            ConnectorError: the answer is no row, or the server refuses to answer.
        """

    def close(self) -> None:
        """Let go of everything."""


def asked_of(options: Mapping[str, str]) -> Asked:
    """What a table's options say of how it is asked."""
    defaults = {option.name: option.default or "" for option in LOOKUP_OPTIONS}
    given = {**defaults, **options}
    rows = int(given[ROWS]) if given[CACHE].upper() == "PARTIAL" else 0
    return Asked(given[KEY], rows, _milliseconds(given[EXPIRES]))


def timeout_ms_of(options: Mapping[str, str]) -> int:
    """How long to ask again while nobody answers."""
    return int(options.get(TIMEOUT, "300000"))


def check_lookup(options: Mapping[str, str]) -> None:
    """See that the options of a table that is asked make sense.

    Raises:
        QueryError: they do not.
    """
    asked_of(options)
    if options.get(CACHE, "NONE").upper() == "NONE" and (ROWS in options or EXPIRES in options):
        raise QueryError(f"'{ROWS}' and '{EXPIRES}' have no effect here", instead=f"add '{CACHE}' = 'PARTIAL'")


def _milliseconds(text: str) -> int:
    span_us = parse_span(text)
    if span_us is None:
        raise QueryError(f"'{EXPIRES}' cannot be '{text}'", instead="write '10 min', or ms, s, h, d")
    return max(1, span_us // 1000)
