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
    """Where records are, or go to.

    Args:
        name: what the plan calls it.
        traits: its connector's.
        options: as the connector has them.
        columns: what the columns are called there; empty for the names that the record's have.
        merges: it adds up what it is given, and keeps what it had before the program ran.
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


@dataclass(frozen=True, eq=False, kw_only=True)
class Producer:
    """Gives records; those that it reads come first. `place` is where the user wrote it, and `cache` what is found out about it once."""

    record: RecordType
    place: str
    cache: dict[str, Any] = field(default_factory=dict, repr=False)

    @property
    def reads(self) -> tuple[Producer, ...]:
        """Whose records it is made of."""
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
    """Base: made of another one's."""

    below: Producer

    @property
    def reads(self) -> tuple[Producer, ...]:
        return (self.below,)


@dataclass(frozen=True, eq=False)
class StepTaken(OfOne):
    """A function of the user's."""

    step: PythonStep


@dataclass(frozen=True, eq=False)
class Swapped(OfOne):
    """Pairs the other way round, or only one half of each: the places of the columns that it gives."""

    places: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Filtered(OfOne):
    """Records of which an expression is true."""

    condition: Expr


@dataclass(frozen=True, eq=False)
class Selected(OfOne):
    """Columns by expressions."""

    items: tuple[tuple[str, Expr], ...]


@dataclass(frozen=True, eq=False)
class NamedAs(OfOne):
    """The same under a name, by which it has options."""

    name: str


@dataclass(frozen=True, eq=False)
class Merged(Producer):
    """All records of several."""

    parts: tuple[Producer, ...]

    @property
    def reads(self) -> tuple[Producer, ...]:
        return self.parts


@dataclass(frozen=True, eq=False)
class JoinedPairs(OfOne):
    """Each pair with what another stream of pairs has for its key; pairs for which it has nothing stay, or go."""

    other: Producer
    stays: bool

    @property
    def reads(self) -> tuple[Producer, ...]:
        return (self.below, self.other)


@dataclass(frozen=True, eq=False)
class AskedPairs(OfOne):
    """Each pair with what a service has for its key, if anything."""

    service: Service[Any]
    called: str

    def look_up(self, pairs: Sequence[Any]) -> list[Any]:
        """What it makes of pairs."""
        found = self.service.get_many(list(dict.fromkeys(key for key, _ in pairs if key is not None)))
        return [(key, (value, None if key is None else found.get(key))) for key, value in pairs]


@dataclass(frozen=True, eq=False)
class Summed(OfOne):
    """The values of each key, added up, and where the totals are kept for others to read."""

    monoid: Monoid[Any, Any, Any]
    store: ConnectorTable | None


@dataclass(frozen=True, eq=False)
class RunningSum(OfOne):
    """Each value with the total of its key before it, in the order of event time."""

    monoid: Monoid[Any, Any, Any]


@dataclass(frozen=True, eq=False)
class Timed(OfOne):
    """The same, with the time at which each record happened: that of a column, and never later than the delay."""

    column: str
    delay: timedelta


@dataclass(frozen=True, eq=False)
class WindowSum(OfOne):
    """The values of each key and window, added up once the window has closed."""

    monoid: Monoid[Any, Any, Any]
    size: timedelta
    slide: timedelta


@dataclass(frozen=True, eq=False)
class Written(OfOne):
    """The same, and each record is written."""

    table: ConnectorTable


@dataclass(frozen=True, eq=False)
class AlsoPlanned(OfOne):
    """The same, and what others write besides."""

    others: tuple[Producer, ...]

    @property
    def reads(self) -> tuple[Producer, ...]:
        return (*self.others, self.below)


@dataclass(frozen=True, eq=False)
class Queried(Producer):
    """What a query makes of these."""

    text: str
    tables: Mapping[str, Producer]

    @property
    def reads(self) -> tuple[Producer, ...]:
        return tuple(self.tables.values())


def entire_graph(end: Producer) -> list[Producer]:
    """All producers that one is made of, each once and after those that it reads, itself last."""
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
    """What leaves its records without an event time: a source, a join, a sum; None if all of them have one."""
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


def is_tail(producer: Producer) -> bool:
    """Whether it leaves something behind: it writes, or keeps totals in a store, as far as it is not renamed."""
    match producer:
        case Written() | AlsoPlanned():
            return True
        case Summed(store=store):
            return store is not None
        case NamedAs(below=below):
            return is_tail(below)
    return False
