"""What a program in Python means: lists and dictionaries, record by record, and nothing of what the engines are made of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ouzel.dsl import sampling
from ouzel.dsl.producers import (
    AlsoPlanned,
    ConnectorTable,
    GivenRecords,
    JoinedPairs,
    Merged,
    NamedAs,
    Producer,
    StepTaken,
    Summed,
    Swapped,
    TableRead,
    Written,
    entire_graph,
)
from ouzel.errors import NotSupported, QueryError


class Memory:
    """One run in memory: what each producer gives, and what was written, by the names of the tables.

    What a stream gives in the end is a list; of a sum it holds each key once, with its total.
    """

    def __init__(self, inputs: Mapping[str, Iterable[Any]]) -> None:
        self.inputs = {name: list(records) for name, records in inputs.items()}
        self.written: dict[str, list[Any]] = {}
        self._found: dict[int, list[Any]] = {}

    def records(self, end: Producer) -> list[Any]:
        """The records that a producer gives.

        Raises:
            NotSupported: something has no form in plain Python.
            QueryError: a source cannot be read now, and its records are not given.
        """
        graph = entire_graph(end)
        unknown = self.inputs.keys() - {_name(one) for one in graph}
        if unknown:
            sources = ", ".join(sorted(filter(None, map(_name, graph))))
            raise QueryError(f"there is no source '{min(unknown)}'", instead=f"give records of {sources}")
        for producer in graph:
            self._found[id(producer)] = self._made(producer)
        return self._found[id(end)]

    def _made(self, producer: Producer) -> list[Any]:
        match producer:
            case GivenRecords() | TableRead():
                return self._given(producer)
            case StepTaken(below=below, step=step):
                if step.by_columns:
                    raise NotSupported(
                        f"{step.called} computes columns, which plain Python has not", instead="use table('memory')"
                    )
                return [made for record in self._of(below) for made in sampling.applied(step, record)]
            case Swapped(below=below, places=places):
                pairs = self._of(below)
                return [
                    pair[places[0]] if len(places) == 1 else tuple(pair[place] for place in places) for pair in pairs
                ]
            case Merged(parts=parts):
                return [record for part in parts for record in self._of(part)]
            case NamedAs(below=below) | AlsoPlanned(below=below):
                return self._of(below)
            case Written(below=below, table=table):
                return self._write(table, self._of(below))
            case JoinedPairs(below=below, other=other, stays=stays):
                return sampling.joined(self._of(below), self._of(other), stays)
            case Summed(below=below, monoid=monoid, store=store):
                made = sampling.totals(monoid, self._of(below))
                return made if store is None else self._write(store, made)
        raise NotSupported(
            f"what is written at {producer.place} is SQL, which plain Python does not compute",
            instead="use table('memory')",
        )

    def _of(self, producer: Producer) -> list[Any]:
        return self._found[id(producer)]

    def _given(self, producer: GivenRecords | TableRead) -> list[Any]:
        name = _name(producer)
        if name in self.inputs:
            return self.inputs[name]
        if isinstance(producer, GivenRecords):
            return list(producer.records)
        if not sampling.can_be_read_now(producer):
            raise QueryError(f"the source '{name}' has no end", instead=f"give its records: memory({name}=[...])")
        return list(sampling.read_records(producer))

    def _write(self, table: ConnectorTable, records: list[Any]) -> list[Any]:
        self.written.setdefault(table.name, []).extend(records)
        return records


def _name(producer: Producer) -> str:
    match producer:
        case GivenRecords(name=name):
            return name
        case TableRead(table=table):
            return table.name
    return ""
