"""Steps in Python: what the user's functions make of each record."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cached_property
from typing import Any

from ouzel.compiler.expressions import Expression, columns_of
from ouzel.compiler.plan.base import Names, Node, RowWise
from ouzel.compiler.plan.identity import digest
from ouzel.compiler.records import RecordType
from ouzel.compiler.types import Schema


class StepKind(Enum):
    """What a step makes of a record: the function's result, each element of it, the result unless None, or the record if it is true."""

    MAP = "map"
    FLAT_MAP = "flat_map"
    OPTION_MAP = "option_map"
    FILTER = "filter"


class StepPart(Enum):
    """What the function receives: the record, or one half of a pair while the other stays as it is."""

    RECORD = "record"
    KEY = "key"
    VALUE = "value"


class NoneGiven(Exception):
    """A function gave None, and its user has declared another type."""


@dataclass(frozen=True)
class Declared:
    """What the user said that a function gives, where None is none of it.

    Args:
        type: as one would write it.
        place: file and line where it was said.
        instead: what to write for a function that may give None.
    """

    type: str
    place: str
    instead: str

    def __str__(self) -> str:
        return f"gave None, and is declared to give {self.type} (at {self.place})"


@dataclass(frozen=True)
class PythonStep:
    """One function of the user's.

    Args:
        kind: what becomes of a record.
        part: what the function is given.
        function: called with it; or, with `by_columns`, with a Polars series for each column.
        id: what tells it from other functions: the same in every process and run.
        called: the step as the user wrote it, for messages.
        place: file and line where it was written.
        by_columns: whether one call computes a whole batch.
        name: what the user calls the step, if anything.
        declared: what the user said of what comes of it; None if nothing, or if it may be None.
    """

    kind: StepKind
    part: StepPart
    function: Callable[..., Any] = field(compare=False, repr=False)
    id: str
    called: str
    place: str = field(default="", compare=False)
    by_columns: bool = False
    name: str = field(default="", compare=False)
    declared: Declared | None = field(default=None, compare=False)

    @property
    def makes(self) -> bool:
        """Whether it makes something else of what it is given."""
        return self.kind is not StepKind.FILTER


@dataclass(frozen=True)
class ApplyPython(RowWise):
    """Call Python for each record: steps in order, without a column between them.

    The columns in `carries` are no part of the record; each record has those of the one that it was made of. A function is called for a
    row that is taken back too, and must give the same for it as it gave before.
    """

    steps: tuple[PythonStep, ...]
    takes: RecordType
    gives: RecordType
    carries: tuple[str, ...] = ()

    @property
    def schema(self) -> Schema:
        kept, below = self.kept, self.input.schema
        made = (below[one.name] if one.name in kept else one for one in self.gives.columns)
        return Schema((*made, *(below[name] for name in self.carries)))

    @property
    def reads(self) -> tuple[str, ...]:
        """The columns of the records that it is given."""
        return self.takes.schema.names

    @property
    def kept(self) -> Names:
        """The columns of the record that stay as they are: all behind filters, the key where only values change."""
        parts = {step.part for step in self.steps if step.makes}
        if not parts:
            return frozenset(self.reads)
        if parts == {StepPart.VALUE}:
            return frozenset(self.reads[:1])
        return frozenset(self.reads[1:]) if parts == {StepPart.KEY} else frozenset()

    @property
    def origins(self) -> Mapping[str, tuple[int, str]]:
        return {name: (0, name) for name in (*self.reads, *self.carries) if name in self.kept or name in self.carries}

    def needs(self, wanted: Names) -> tuple[Names, ...]:
        """The whole record: nobody knows what of it a function looks at."""
        return (frozenset(self.reads) | (wanted & frozenset(self.carries)),)

    def prune(self, wanted: Names, inputs: tuple[Node, ...]) -> Node:
        return replace(self, input=inputs[0], carries=tuple(name for name in self.carries if name in wanted))

    def passes(self, predicate: Expression) -> tuple[Expression | None, ...] | None:
        read = columns_of(predicate)
        return (predicate,) if read and read <= self.origins.keys() else None

    waits = (False,)
    calls_python = True

    @property
    def time_column(self) -> str | None:
        below = self.input.time_column
        return below if below in self.origins else None

    @property
    def unique_keys(self) -> frozenset[Names]:
        if any(step.kind is StepKind.FLAT_MAP for step in self.steps):
            return frozenset()
        return frozenset(key for key in self.input.unique_keys if key <= self.origins.keys())

    @property
    def label(self) -> str:
        kept = [name for name in self.gives.schema.names if name in self.kept]
        keeps = f"; keeps {', '.join(kept)}" if kept else ""
        return f"Python {', '.join(step.called for step in self.steps)}{keeps}"

    @property
    def identity(self) -> tuple[object, ...]:
        return (self._history[-1],)

    @property
    def rows_id(self) -> str:
        """The same whether steps are fused or not."""
        return digest("python", self._history[-1])

    def definition(self, column: str) -> tuple[object, ...]:
        place = self.gives.schema.names.index(column)
        return ("python", self._trace_steps(place), place)

    def calls_as_written(self) -> Mapping[str, str]:
        return {step.id: step.called for step in self.steps}

    def as_meant(self, *, trusts: bool) -> Node:
        given = digest(*(column.type for column in self.gives.columns))
        return replace(self, steps=tuple(replace(step, id=given) for step in self.steps)) if trusts else self

    def fuse(self, below: ApplyPython) -> ApplyPython:
        """Both as one, on what the one below reads."""
        return replace(self, input=below.input, steps=(*below.steps, *self.steps), takes=below.takes)

    @cached_property
    def _history(self) -> tuple[str, ...]:
        """Digests of what has been done to the record before the first step, and after each."""
        node, done = self.input, list[str]()
        start = (
            node._history[-1]
            if isinstance(node, ApplyPython)
            else digest(node.rows_id, *(node.column_ids[name] for name in self.reads))
        )
        done.append(start)
        for step in self.steps:
            done.append(digest(step.kind, step.part, step.id, done[-1]))
        return tuple(done)

    def _trace_steps(self, place: int) -> str:
        """The history up to the step that made the column at this place."""
        other = (StepPart.VALUE, StepPart.KEY)[place] if self.gives.is_pair else None
        makers = [number for number, step in enumerate(self.steps, 1) if step.makes and step.part is not other]
        return self._history[makers[-1]]
