"""What one file of statements asks to run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ouzel.compiler.plan.sinks import Sink

if TYPE_CHECKING:
    from ouzel.compiler.functions.known import Row
    from ouzel.errors import QueryError


@dataclass(frozen=True)
class Hints:
    """Hints of one SELECT by alias or table name: PARALLELISM('a'='2'), GROUPING('a'='shuffle').

    `combining` are the names of aggregates that are to add up each batch before it is sent.
    """

    parallelism: tuple[tuple[str, int], ...] = ()
    grouping: tuple[tuple[str, str], ...] = ()
    combining: tuple[str, ...] = ()

    @property
    def placed(self) -> frozenset[str]:
        """The names whose tasks or grouping a hint says."""
        return frozenset(name for name, _ in (*self.parallelism, *self.grouping))


@dataclass(frozen=True)
class Reconcile:
    """RECONCILE: a sink's rows are to be compared with what the batch job returns for the same input.

    Attributes:
        table: the sink.
        from_us: where the part of time to compare begins, in microseconds since the epoch; None is the beginning of time.
        to_us: where it ends, and is no longer in it; None is the end of time.
        closed_windows: compare only windows that the watermark has closed.
        tolerance: how far apart, relative to the larger, equal floats may be; None is the default.
        report: the directory of the report, relative to the file of SQL; empty for none.
        master: where Spark runs; empty for the default.
    """

    table: str
    from_us: int | None = None
    to_us: int | None = None
    closed_windows: bool = False
    tolerance: float | None = None
    report: str = ""
    master: str = ""


@dataclass(frozen=True)
class Listing:
    """The result of a DESCRIBE or SHOW, which is printed before anything runs.

    Attributes:
        columns: names of its columns, each of texts, numbers or truth values.
        rows: their values.
        text: what people are shown instead of the rows; empty if it is the rows.
        what: what the rows are to be of, if not the compiler but whoever runs the program knows it: CONNECTORS or SETTINGS; else empty.
        pattern: which of these, as LIKE has it, by their first column.
    """

    columns: tuple[str, ...] = ()
    rows: tuple[tuple[object, ...], ...] = ()
    text: str = ""
    what: str = ""
    pattern: str = "%"


@dataclass(frozen=True)
class Program:
    """What one file of statements asks to run.

    Attributes:
        sinks: what is written, in order; they may share nodes.
        settings: its SET options, as names and values, in order.
        hints: its hints.
        explain: set when the last statement was EXPLAIN: the words after it, lower case, e.g. ("logical",); () for plain EXPLAIN.
        reconciles: its RECONCILE statements, in order.
        places: where in the text a hint or a setting was written: (hint, name in it) or ("SET", key) to (offset, end).
        notes: what the compiler says of a text that is right but may not mean what it seems to, with its place.
        functions: the user's own that it may call, beside those of the registries.
        listings: what its DESCRIBE and SHOW statements say.
        text: what the user typed, with stars for secrets: all places in the plan are offsets in it.
        text_to_run_again: asks the same, and nothing has to be found for it: what its tables hold is declared, and secrets are
            referred to.
    """

    sinks: tuple[Sink, ...]
    settings: tuple[tuple[str, str], ...] = ()
    hints: Hints = Hints()
    explain: tuple[str, ...] | None = None
    reconciles: tuple[Reconcile, ...] = ()
    places: Mapping[tuple[str, str], tuple[int, int]] = field(default_factory=dict, compare=False, repr=False)
    notes: tuple[str, ...] = field(default=(), compare=False, repr=False)
    functions: tuple[Row, ...] = field(default=(), compare=False, repr=False)
    listings: tuple[Listing, ...] = field(default=(), compare=False)
    text: str = field(default="", compare=False, repr=False)
    text_to_run_again: str = field(default="", compare=False, repr=False)

    @property
    def result(self) -> Sink | None:
        """The sink of the trailing SELECT, if there is one."""
        return next((sink for sink in self.sinks if sink.traits.returned), None)

    def locate(self, error: QueryError) -> QueryError:
        """The error, which points at where the text has the hint or setting that it is about, if it has one."""
        place = self.places.get(error.about) if error.about else None
        if place:
            error.located(self.text, place[0], place[1] - place[0])
        return error
