"""What a program in Python says: a graph of producers (Summingbird's word), of which the plan is made, and what it means (memory.py)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from ouzel.compiler.catalog import ConnectorTraits
from ouzel.compiler.plan import PythonStep
from ouzel.compiler.records import RecordType
from ouzel.dsl.expressions import Expr
from ouzel.dsl.services import Service
from ouzel.monoid import Monoid


@dataclass(frozen=True, eq=False)
class ConnectorTable:
    """A table of a connector that a program reads or writes.

    Args:
        name: what the plan calls it.
        traits: its connector's.
        options: as the connector has them.
        columns: the names of the columns in the table; empty if they are those of the record.
        merges: it adds rows to the totals that it had before the program ran.
    """

    name: str
    traits: ConnectorTraits
    options: tuple[tuple[str, str], ...]
    columns: tuple[str, ...] = ()
    merges: bool = False

    @property
    def connector(self) -> str:
        """Its connector's name."""
        return self.traits.name

    @property
    def unit_of_epoch(self) -> str:
        """What its times count that come as numbers: seconds, millis, micros or nanos; empty if they come as times."""
        return self.traits.epoch(dict(self.options)) if self.traits.epoch else ""


@dataclass(frozen=True, eq=False, kw_only=True)
class Producer:
    """Base of the graph's nodes. `place` is where the user wrote it, and `cache` holds what was found out about it."""

    record: RecordType
    place: str
    cache: dict[str, Any] = field(default_factory=dict, repr=False)

    @property
    def reads(self) -> tuple[Producer, ...]:
        """The producers whose records it reads."""
        return ()


@dataclass(frozen=True, eq=False)
class TableRead(Producer):
    """Records of a table."""

    table: ConnectorTable


@dataclass(frozen=True, eq=False)
class GivenRecords(Producer):
    """Records that the program itself holds."""

    name: str
    records: tuple[Any, ...]


@dataclass(frozen=True, eq=False)
class OfOne(Producer):
    """Base of producers that read one other."""

    below: Producer

    @property
    def reads(self) -> tuple[Producer, ...]:
        return (self.below,)


@dataclass(frozen=True, eq=False)
class StepTaken(OfOne):
    """A function of the user's, applied to each record; and the values that the variables around it had when the step was written.

    It was `tried` on the first records then, where nothing says which type it gives.
    """

    step: PythonStep
    variables: Mapping[str, object] = field(default_factory=dict)
    tried: bool = False


@dataclass(frozen=True, eq=False)
class Swapped(OfOne):
    """Halves of pairs: both, exchanged, or one alone; `places` are those of the columns that it gives."""

    places: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Filtered(OfOne):
    """Records of which an expression is true."""

    condition: Expr


@dataclass(frozen=True, eq=False)
class Selected(OfOne):
    """Records whose columns are expressions."""

    items: tuple[tuple[str, Expr], ...]


@dataclass(frozen=True, eq=False)
class NamedAs(OfOne):
    """The same records under a name, to which options refer."""

    name: str


@dataclass(frozen=True, eq=False)
class Merged(Producer):
    """All records of several producers."""

    parts: tuple[Producer, ...]

    @property
    def reads(self) -> tuple[Producer, ...]:
        return self.parts


@dataclass(frozen=True, eq=False)
class JoinedPairs(OfOne):
    """Each pair joined to the pairs of another stream with its key; pairs without a match stay, or are left out."""

    other: Producer
    stays: bool

    @property
    def reads(self) -> tuple[Producer, ...]:
        return (self.below, self.other)


@dataclass(frozen=True, eq=False)
class AskedPairs(OfOne):
    """Each pair with the value that a service has for its key, or None."""

    service: Service[Any]
    called: str

    def look_up(self, pairs: Sequence[Any]) -> list[Any]:
        """The plain function of it: pairs to pairs."""
        found = self.service.get_many(list(dict.fromkeys(key for key, _ in pairs if key is not None)))
        return [(key, (value, None if key is None else found.get(key))) for key, value in pairs]


@dataclass(frozen=True, eq=False)
class Summed(OfOne):
    """The total of each key, and the store that keeps the totals for others to read."""

    monoid: Monoid[Any, Any, Any]
    store: ConnectorTable | None


@dataclass(frozen=True, eq=False)
class RunningSum(OfOne):
    """Each value with the total of its key before it, in the order of event time."""

    monoid: Monoid[Any, Any, Any]


@dataclass(frozen=True, eq=False)
class Timed(OfOne):
    """The same records with event time, from a column; a record comes at most the delay behind later ones."""

    column: str
    delay: timedelta


@dataclass(frozen=True, eq=False)
class WindowSum(OfOne):
    """The values of each key and window, added up once the window has closed."""

    monoid: Monoid[Any, Any, Any]
    size: timedelta
    slide: timedelta
    zone: str = ""
    """By whose clock the days of windows are cut; empty for UTC."""


@dataclass(frozen=True, eq=False)
class Written(OfOne):
    """The same records, each written to a table."""

    table: ConnectorTable


@dataclass(frozen=True, eq=False)
class AlsoPlanned(OfOne):
    """The same records; what other producers write is planned with them."""

    others: tuple[Producer, ...]

    @property
    def reads(self) -> tuple[Producer, ...]:
        return (*self.others, self.below)


@dataclass(frozen=True, eq=False)
class Queried(Producer):
    """The rows of a query over these producers."""

    text: str
    tables: Mapping[str, Producer]

    @property
    def reads(self) -> tuple[Producer, ...]:
        return tuple(self.tables.values())


def entire_graph(end: Producer) -> list[Producer]:
    """All producers below one, each once and behind those that it reads; the one itself is last."""
    found: dict[int, Producer] = {}
    todo = [(end, False)]
    while todo:
        producer, ready = todo.pop()
        if id(producer) in found:
            continue
        if ready:
            found[id(producer)] = producer
        else:
            todo.append((producer, True))
            todo.extend((below, False) for below in reversed(producer.reads))
    return list(found.values())


def undated(end: Producer) -> Producer | None:
    """The producer that leaves its records without event time: a source, a join, a sum; None if they have one."""
    found: dict[int, Producer | None] = {}
    for producer in entire_graph(end):
        match producer:
            case Timed() | WindowSum() | RunningSum():
                found[id(producer)] = None
            case Merged(parts=parts):
                found[id(producer)] = next((one for part in parts if (one := found[id(part)]) is not None), None)
            case Summed() | JoinedPairs():
                found[id(producer)] = producer
            case OfOne(below=below):
                found[id(producer)] = found[id(below)]
            case _:
                found[id(producer)] = producer
    return found[id(end)]


def has_changes(end: Producer) -> bool:
    """Whether some of its records may be taken back: those behind a sum by key, or a join that waits for a match."""
    return any(isinstance(one, Summed) or (isinstance(one, JoinedPairs) and one.stays) for one in entire_graph(end))


def is_tail(producer: Producer) -> bool:
    """Whether it has an effect: it writes, or keeps totals in a store; a name above it does not count."""
    match producer:
        case Written() | AlsoPlanned():
            return True
        case Summed(store=store):
            return store is not None
        case NamedAs(below=below):
            return is_tail(below)
    return False
