"""What a program in Python means: lists and dictionaries, record by record, and nothing of what the engines are made of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from datetime import datetime
from typing import Any

from ouzel.compiler.misfits import describe_misfit
from ouzel.compiler.plan import PythonStep, StepPart
from ouzel.compiler.raised import advise_of_error
from ouzel.compiler.records import Form, RecordType, made_of
from ouzel.dsl import producers, sampling
from ouzel.dsl.column_functions import made_by_columns
from ouzel.dsl.holding import holds_record
from ouzel.dsl.in_python import interpret
from ouzel.dsl.running_sums import running_sums
from ouzel.dsl.shapes import as_tuples
from ouzel.dsl.windows import WindowTotal, time_of_window, value_at, windows_of
from ouzel.errors import BadRecord, NotSupported, OuzelError, QueryError

Dated = tuple[datetime | None, Any]
"""When a record happened, if that is known, and the record."""


class Memory:
    """One run in memory: what each producer gives, and what was written, by the names of the tables.

    What a stream gives in the end is a list; of a sum it holds each key once, with its total.
    """

    def __init__(self, inputs: Mapping[str, Iterable[Any]]) -> None:
        for name, records in inputs.items():
            if isinstance(records, str | Mapping) or not isinstance(records, Iterable):
                raise QueryError(
                    f"memory({name}=…) takes the records of a source, a list, and {records!r:.60} is none",
                    instead=f"write memory({name}=[…])",
                )
        self.inputs = {name: list(records) for name, records in inputs.items()}
        self.written: dict[str, list[Any]] = {}
        self._found: dict[int, list[Dated]] = {}
        self._shared: set[int] = set()

    def records(self, end: producers.Producer) -> list[Any]:
        """The records that a producer gives.

        Raises:
            NotSupported: something has no form in plain Python.
            BadRecord: a record is none of the type that its columns have: an integer of more than 64 bits, or of another class.
            QueryError: a source cannot be read now, and its records are not given.
        """
        graph = producers.entire_graph(end)
        unknown = self.inputs.keys() - {_name(one) for one in graph}
        if unknown:
            sources = ", ".join(sorted(filter(None, map(_name, graph))))
            raise QueryError(f"there is no source '{min(unknown)}'", instead=f"give records of {sources}")
        readers: dict[int, list[producers.Producer]] = {}
        for producer in graph:
            for read in producer.reads:
                readers.setdefault(id(read), []).append(producer)
        self._shared = {read for read, each in readers.items() if len(each) > 1}
        for producer in graph:
            self._found[id(producer)] = self._compute(producer)
        for producer in graph:
            if not _is_inside_loop(producer, readers.get(id(producer), [])):
                _check_held(producer, self._plain(producer))
        return [record for _, record in self._found[id(end)]]

    def _compute(self, producer: producers.Producer) -> list[Dated]:
        match producer:
            case producers.GivenRecords() | producers.TableRead():
                return _drop_times(self._give(producer))
            case producers.StepTaken(below=below, step=step):
                if step.by_columns:
                    return _compute_columns(step, below.record, producer.record, self._of(below))
                return [(time, made) for time, record in self._of(below) for made in _apply(step, record)]
            case producers.Filtered(below=below, condition=condition):
                true = interpret(condition.bind(below.record.schema), below.record)
                return [(time, record) for time, record in self._of(below) if true(record) is True]
            case producers.Selected(below=below):
                return _select(producer, self._of(below))
            case producers.Swapped(below=below, places=places):
                return [(time, sampling.picked(pair, places)) for time, pair in self._of(below)]
            case producers.Merged(parts=parts):
                return [dated for part in parts for dated in self._of(part)]
            case producers.NamedAs(below=below) | producers.AlsoPlanned(below=below):
                return self._of(below)
            case producers.Timed():
                return _read_times(producer, self._of(producer.below))
            case producers.Written(below=below, table=table):
                return self._write(table, self._of(below))
            case producers.JoinedPairs(below=below, other=other, stays=stays):
                return _drop_times(sampling.joined_pairs(self._plain(below), self._plain(other), stays))
            case producers.AskedPairs(below=below):
                times = [time for time, _ in self._of(below)]
                return list(zip(times, producer.look_up(self._plain(below)), strict=True))
            case producers.RunningSum(below=below):
                adder = sampling.adder(producer)
                last = sampling.totals(adder, self._plain(below))  # no record shows them, and a column has them
                _check_held(producer, [(key, (total, None)) for key, total in last])
                return list(running_sums(adder, _timed(producer, self._of(below))))
            case producers.WindowSum():
                return _window_totals(producer, self._of(producer.below))
            case producers.Summed(below=below, store=store):
                made = _drop_times(sampling.totals(sampling.adder(producer), self._plain(below)))
                return made if store is None else self._write(store, made)
        raise NotSupported(
            f"what is written at {producer.place} is SQL, which plain Python does not compute",
            instead="use table('memory')",
        )

    def _of(self, producer: producers.Producer) -> list[Dated]:
        """What a producer gives; copies where others read it too, for a function may change what it is given."""
        found = self._found[id(producer)]
        return deepcopy(found) if id(producer) in self._shared else found

    def _plain(self, producer: producers.Producer) -> list[Any]:
        return [record for _, record in self._of(producer)]

    def _give(self, producer: producers.GivenRecords | producers.TableRead) -> list[Any]:
        name = _name(producer)
        if name in self.inputs:
            return deepcopy(self.inputs[name])
        if isinstance(producer, producers.GivenRecords):
            return deepcopy(list(producer.records))
        if not sampling.can_be_read_now(producer):
            raise QueryError(f"the source '{name}' has no end", instead=f"give its records: memory({name}=[...])")
        return list(sampling.read_records(producer))

    def _write(self, table: producers.ConnectorTable, records: list[Dated]) -> list[Dated]:
        self.written.setdefault(table.name, []).extend(record for _, record in records)
        return records


def _apply(step: PythonStep, record: Any) -> list[Any]:
    """The records that a step gives for one. What its function raises says below its text what it was given, and what to write."""
    try:
        return sampling.applied(step, record)
    except OuzelError:
        raise
    except Exception as error:
        given = record if step.part is StepPart.RECORD else record[step.part is StepPart.VALUE]
        error.add_note(f"{step.called} (at {step.place}) was given {given!r:.300}")
        if advice := advise_of_error(error, step.function, step.called, given):
            error.add_note(advice)
        raise


IN_LOOPS = (producers.GivenRecords, producers.StepTaken, producers.NamedAs, producers.AlsoPlanned)
"""What one loop of functions computes, or passes on."""


def _is_inside_loop(producer: producers.Producer, readers: Sequence[producers.Producer]) -> bool:
    """Whether no column has its records: all that reads them is the next function."""
    both = (producer, *readers)
    by_columns = any(isinstance(one, producers.StepTaken) and one.step.by_columns for one in both)
    return len(readers) == 1 and all(isinstance(one, IN_LOOPS) for one in both) and not by_columns


def _check_held(producer: producers.Producer, records: Iterable[Any]) -> None:
    """See that the columns of these records hold them, as every engine does.

    Raises:
        BadRecord: they do not.
    """
    for record in records:
        if not holds_record(producer.record, record):
            columns = ", ".join(map(str, producer.record.columns))
            plain = as_tuples(record)
            values = (plain,) if producer.record.form is Form.VALUE else plain
            misfit = describe_misfit(producer.record.columns, values) if isinstance(values, tuple | list) else ""
            if isinstance(record, Mapping) and producer.record.form is not Form.VALUE:
                misfit = f"a dict is no {producer.record}; write {producer.record}(**fields)"
            why = f"; {misfit}" if misfit else ""
            raise BadRecord(
                "", f"{record!r} does not fit ({columns}), the type of what is made at {producer.place}{why}"
            )


def _select(producer: producers.Selected, records: Iterable[Dated]) -> list[Dated]:
    """Records of what expressions make of these."""
    takes, gives = producer.below.record, producer.record
    items = [(name, interpret(one.bind(takes.schema), takes)) for name, one in producer.items]
    return [(time, made_of(gives, {name: one(record) for name, one in items})) for time, record in records]


def _compute_columns(step: PythonStep, takes: RecordType, gives: RecordType, records: Sequence[Dated]) -> list[Dated]:
    made = made_by_columns(step, takes, gives, [record for _, record in records])
    return [(records[place][0], record) for place, record in made]


def _drop_times(records: Iterable[Any]) -> list[Dated]:
    return [(None, record) for record in records]


def _read_times(producer: producers.Timed, records: Iterable[Dated]) -> list[Dated]:
    """Records with the time that a column of theirs says."""
    form, names = producer.record.form, producer.record.schema.names
    place = names.index(producer.column)
    return [(value_at(record, form, place, producer.column), record) for _, record in records]


def _timed(producer: producers.Producer, records: Iterable[Dated]) -> Iterator[tuple[datetime, Any]]:
    """Records, which all have a time.

    Raises:
        QueryError: one has none.
    """
    for time, record in records:
        if time is None:
            raise QueryError(
                f"the time of {record!r} is None, so it has no place at {producer.place}",
                instead="filter such records out, as the setting error.policy = 'skip' does in a topology",
            )
        yield time, record


def _window_totals(producer: producers.WindowSum, pairs: Iterable[Dated]) -> list[Dated]:
    """Each key and window with what its values add up to."""
    found = [
        ((key, *window), value)
        for time, (key, value) in _timed(producer, pairs)
        for window in windows_of(time, producer.size, producer.slide, producer.zone)
    ]
    return [
        (time_of_window(end), WindowTotal(key, start, end, total))
        for (key, start, end), total in sampling.totals(sampling.adder(producer), found)
    ]


def _name(producer: producers.Producer) -> str:
    match producer:
        case producers.GivenRecords(name=name):
            return name
        case producers.TableRead(table=table):
            return table.name
    return ""
