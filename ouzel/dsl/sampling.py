"""The first records of a stream whose source can be read now: they show the types that functions give."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, replace
from datetime import datetime
from difflib import get_close_matches
from functools import reduce
from itertools import islice
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import polars as pl

from ouzel.compiler.expressions import Column
from ouzel.compiler.functions.kernel import evaluate, lower
from ouzel.compiler.plan import PythonStep, StepKind, StepPart
from ouzel.compiler.records import Hint, hint_of_values, is_whole, made_of
from ouzel.compiler.sql.statements.epochs import convert_epoch, read_as
from ouzel.compiler.types import to_polars
from ouzel.compiler.user_code import describe_raised
from ouzel.connectors import open_source
from ouzel.connectors.formats.far_times import python_rows
from ouzel.connectors.reading import BadRow, ReadBatch, SourceRequest
from ouzel.dsl import producers
from ouzel.dsl.inference import NOT_A_FAILURE, SAMPLE_ROWS, advise_of_raised
from ouzel.dsl.running_sums import running_sums
from ouzel.dsl.shapes import OfRecords, key_value
from ouzel.dsl.suspects import find_suspect
from ouzel.dsl.variables import copy_for_trial
from ouzel.dsl.windows import WindowTotal
from ouzel.errors import BadRecord, OuzelError, QueryError
from ouzel.exits import in_user_code

OF_COLUMNS = re.compile(r"has no (?:column|field) '(.*?)'; (?:it has|its header names) (.*)")
"""What is told of a file that lacks a column, with its name and those that there are."""


@dataclass(frozen=True)
class Lookup:
    """A mapping as a function: the value of a key, or None."""

    found: Mapping[Any, Any]

    def __call__(self, record: Any) -> Any:
        """The value that the mapping has for the record."""
        return self.found.get(record)


def hint_of_mapping(mapping: Mapping[Any, Any]) -> Hint:
    """The type of a mapping's values.

    Raises:
        QueryError: its values do not tell.
    """
    hint = hint_of_values(mapping.values())
    if not is_whole(hint):
        raise QueryError("collect() takes a mapping whose values are of one type that columns hold")
    return hint


def on_the_left(record: Any) -> Any:
    """The record and None."""
    return record, None


def on_the_right(record: Any) -> Any:
    """None and the record."""
    return None, record


def with_nothing(record: Any) -> Any:
    """The record as a key of nothing."""
    return record, True


def second(pair: Any) -> Any:
    """The second of two."""
    return pair[1]


def identified(step: PythonStep, known_by: str) -> PythonStep:
    """The step with the id of its function; a mapping's id covers its items."""
    if isinstance(step.function, Lookup):
        known_by = f"{known_by}:{sorted(map(repr, step.function.found.items()))}"
    return replace(step, id=known_by)


def given(producer: producers.Producer, step: PythonStep) -> Iterable[Any] | None:
    """The first records that a step behind the producer gets; None if its source cannot be read now."""
    found = samples(producer)
    if found is None or step.part is StepPart.RECORD:
        return found
    return [pair[0 if step.part is StepPart.KEY else 1] for pair in found]


def samples(producer: producers.Producer) -> list[Any] | None:
    """The first records that it gives; None if they cannot be known before it runs."""
    if "samples" not in producer.cache:
        producer.cache["samples"] = _samples(producer)
    found: list[Any] | None = producer.cache["samples"]
    return deepcopy(found)  # for functions that change what they are given


def known_samples(producer: producers.Producer) -> list[Any] | None:
    """The first records, if no function is called for them that was not tried before: one whose type is said may ask a server."""
    todo = [producer]
    while todo:
        one = todo.pop()
        if "samples" in one.cache:
            continue
        if isinstance(one, producers.AskedPairs) or (isinstance(one, producers.StepTaken) and not one.tried):
            return None
        todo += one.reads
    return samples(producer)


def _samples(producer: producers.Producer) -> list[Any] | None:
    match producer:
        case producers.GivenRecords(records=records):
            return list(records[:SAMPLE_ROWS])
        case producers.TableRead():
            return _read(producer)
        case producers.Merged(parts=parts):
            known = [one for one in map(samples, parts) if one is not None]
            return [record for one in known for record in one] if known else None
        case producers.NamedAs(below=below) | producers.Written(below=below) | producers.Timed(below=below):
            return samples(below)
        case producers.Swapped(below=below, places=places):
            pairs = samples(below)
            return None if pairs is None else [picked(pair, places) for pair in pairs]
        case producers.StepTaken(below=below, step=step) if not step.by_columns:
            given_first = samples(below)
            raised: list[BaseException] = []
            with in_user_code():
                found = None if given_first is None else list(islice(_try(step, given_first, raised), SAMPLE_ROWS))
            if given_first and len(raised) == len(given_first):
                producer.cache["raised"] = _describe_raised(step, given_first[0], raised[0])
            return found
        case producers.JoinedPairs(below=below, other=other, stays=stays):
            both = samples(below), samples(other)
            return None if both[0] is None or both[1] is None else joined_pairs(both[0], both[1], stays)
        case producers.AskedPairs(below=below):
            return _try_answers(producer, samples(below))
        case producers.WindowSum(below=below, size=size):
            pairs = samples(below)
            first = datetime(1970, 1, 1)
            return pairs and [
                WindowTotal(key, first, first + size, total) for key, total in totals(adder(producer), pairs)
            ]
        case producers.RunningSum(below=below):
            pairs = samples(below)
            first = datetime(1970, 1, 1)
            return pairs and [pair for _, pair in running_sums(adder(producer), [(first, pair) for pair in pairs])]
        case producers.Summed(below=below):
            pairs = samples(below)
            return None if pairs is None else totals(adder(producer), pairs)
        case producers.Filtered(below=below) | producers.Selected(below=below) | producers.StepTaken(below=below):
            return _compute(producer, {"below": below})
        case producers.Queried(tables=tables):
            return _compute(producer, tables)
    return None


def _describe_raised(step: PythonStep, record: Any, error: BaseException) -> tuple[str, str]:
    """What a step raises on this record and all others, and what to write instead."""
    argument = record if step.part is StepPart.RECORD else record[step.part is StepPart.VALUE]
    advice = advise_of_raised(step.function, step.called, step.kind, error, argument)
    return f"raises {describe_raised(error)} on the first records", advice


@runtime_checkable
class Valued(Protocol):
    """What a service gives: a mapping, or what has values as one."""

    def values(self) -> Any:
        """What it knows of the keys."""


def hint_of_service(pairs: producers.Producer, service: Any) -> Hint | None:
    """The type of a service's answers, seen from the first of these pairs; None if it does not answer now.

    Raises:
        QueryError: its answer is no mapping.
    """
    first = samples(pairs) or []
    try:
        with in_user_code():
            answer = service.get_many(list(dict.fromkeys(key for key, _ in first if key is not None)))
            values = answer.values() if isinstance(answer, Valued) else None
    except NOT_A_FAILURE:
        raise
    except BaseException:
        return None
    if values is None:
        raise QueryError(
            f"get_many of {type(service).__name__} gave a {type(answer).__name__}, and is to give a mapping of keys to values",
            instead="return {key: …}, without the keys that it does not know",
        )
    return hint_of_values(values)


def _try_answers(producer: producers.AskedPairs, pairs: list[Any] | None) -> list[Any] | None:
    """A service's answers for these pairs, if it answers now."""
    try:
        with in_user_code():
            return None if pairs is None else producer.look_up(pairs)
    except NOT_A_FAILURE:
        raise
    except BaseException:
        return None


def _compute(producer: producers.Producer, below: Mapping[str, producers.Producer]) -> list[Any] | None:
    """The first records of a producer that only an engine can compute, from the first records below it."""
    from ouzel import entry
    from ouzel.dsl.plan import plan_job

    first = {name: samples(one) for name, one in below.items()}
    given = {
        name: producers.GivenRecords(record=one.record, place=one.place, name=name, records=tuple(found))
        for name, one in below.items()
        if (found := first[name]) is not None
    }
    if len(given) < len(below):
        return None
    match producer:
        case producers.Queried():
            trial: producers.Producer = replace(producer, tables=given, cache={})
        case producers.OfOne():
            trial = replace(producer, below=given["below"], cache={})
        case _:
            return None
    try:
        rows = entry.table(plan_job(trial, {}, True, {"error_policy": "skip"}), "memory")
    except OuzelError:
        return None
    return [made_of(producer.record, row) for row in python_rows(rows.head(SAMPLE_ROWS))]


def adder(producer: producers.Summed | producers.WindowSum | producers.RunningSum) -> OfRecords:
    """A function that adds up values."""
    given = producer.below.record
    return OfRecords(producer.monoid, given.columns[1].type, given.hints[1])


def totals(monoid: OfRecords, pairs: Iterable[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    """The total of each key. Neighbours are added first, so that a total that grows is not copied for each value."""
    found: dict[Any, tuple[Any, list[tuple[int, Any]]]] = {}
    for key, value in pairs:
        _, parts = found.setdefault(key_value(key), (key, []))
        size, total = 1, monoid.prepare(value)
        while parts and parts[-1][0] == size:
            total, size = monoid.plus(parts.pop()[1], total), 2 * size
        parts.append((size, total))
    return [(key, monoid.present(reduce(monoid.plus, (total for _, total in parts)))) for key, parts in found.values()]


def joined_pairs(pairs: Iterable[Any], others: Iterable[Any], stays: bool) -> list[Any]:
    """The join of pairs by key; None equals no key."""
    found: dict[Any, list[Any]] = {}
    for key, value in others:
        if key is not None:
            found.setdefault(key_value(key), []).append(value)
    nothing = [None] if stays else []
    return [(key, (value, other)) for key, value in pairs for other in found.get(key_value(key), nothing)]


def picked(pair: Any, places: tuple[int, ...]) -> Any:
    """One half of a pair, or both in this order."""
    return pair[places[0]] if len(places) == 1 else tuple(pair[place] for place in places)


def _try(step: PythonStep, records: Iterable[Any], raised: list[BaseException]) -> Iterator[Any]:
    """The step's records of these, without those on which it fails; what it `raised` there."""
    function = copy_for_trial(step.function)
    tried = (
        (lambda one: islice(function(one), SAMPLE_ROWS)) if step.kind is StepKind.FLAT_MAP else function
    )  # it may have no end
    step = replace(step, function=tried)
    for record in records:
        try:
            made = applied(step, record)
        except NOT_A_FAILURE:
            raise
        except BaseException as error:
            raised.append(error)
            continue
        yield from made


def applied(step: PythonStep, record: Any) -> list[Any]:
    """The records that a step gives for one."""
    if step.part is StepPart.RECORD:
        return _call_step(step, record, record)
    key, value = record
    if step.part is StepPart.KEY:
        return [(made, value) for made in _call_step(step, key, key)]
    return [(key, made) for made in _call_step(step, value, value)]


def _call_step(step: PythonStep, argument: Any, itself: Any) -> list[Any]:
    match step.kind:
        case StepKind.MAP:
            return _see_declared(step, argument, [step.function(argument)])
        case StepKind.FLAT_MAP:
            return _see_declared(step, argument, list(step.function(argument)))
        case StepKind.FILTER:
            return [itself] if step.function(argument) else []
    made = step.function(argument)
    return [] if made is None else [made]


def _see_declared(step: PythonStep, argument: Any, made: list[Any]) -> list[Any]:
    """What a step gave, of the type that was said of it.

    Raises:
        BadRecord: it gave None, and was said to give something else.
    """
    if step.declared is not None and any(one is None for one in made):
        raise BadRecord("", f"{step.called} {step.declared}: {argument!r}; {step.declared.instead}")
    return made


def request_of(producer: producers.TableRead) -> SourceRequest:
    """The request that opens the source of a table."""
    names = producer.table.columns or producer.record.schema.names
    kinds = [to_polars(read_as(field.type, producer.table.unit_of_epoch)) for field in producer.record.columns]
    return SourceRequest(
        producer.table.name, dict(producer.table.options), dict(zip(names, kinds, strict=True)), Path.cwd()
    )


def in_times(frame: pl.DataFrame, producer: producers.TableRead, is_trial: bool) -> pl.DataFrame:
    """The frame with its numbers as the times that the record declares. A trial leaves out those that are no times.

    Raises:
        BadRecord: there is one.
    """
    unit = producer.table.unit_of_epoch
    if not unit:
        return frame
    fields = producer.record.schema
    times = [
        (one.name, lower(convert_epoch(Column(read_as(one.type, unit), one.name), one.type, unit))) for one in fields
    ]
    computed, failed = evaluate(frame, times)
    if failed is not None and not is_trial:
        reason = next(time.reason for _, time in times if time.reason)
        raise BadRecord("", f"{reason}: {frame.row(failed.index_of(True) or 0, named=True)}")
    return computed if failed is None else computed.filter(~failed)


def can_be_read_now(producer: producers.TableRead) -> bool:
    """Whether the table is bounded, so that it can be read now."""
    from ouzel.connectors import reads_of

    reads = reads_of(producer.table.traits.name, producer.table.name)
    options = dict(producer.table.options)
    return reads.at_rest and reads.bounded(options)


def read_records(producer: producers.TableRead, most: int | None = None) -> Iterator[Any]:
    """The first records of a bounded table, at most so many if `most` says so: then bad ones are left out, as a trial needs none.

    Raises:
        ConnectorError: it cannot be read.
        BadRecord: one of all its records cannot be read, and the table does not say to go on; or none of the first can.
    """
    fails = dict(producer.table.options).get("bad.record", "fail") == "fail"
    bad: list[BadRow] = []
    read = 0
    source = open_source(producer.table.traits.name, request_of(producer))
    try:
        for partition in source.partitions():
            reader = source.reader(partition, None)
            try:
                while isinstance(batch := reader.read(most or 10_000), ReadBatch):
                    frame = batch.frame.rename(
                        dict(zip(batch.frame.columns, producer.record.schema.names, strict=True))
                    )
                    bad += batch.bad
                    read += frame.height
                    if bad and fails and most is None:
                        raise BadRecord(bad[0].where, bad[0].reason)
                    yield from (
                        made_of(producer.record, row)
                        for row in python_rows(in_times(frame, producer, most is not None))
                    )
            finally:
                reader.close()
        if bad and not read:
            raise BadRecord(bad[0].where, bad[0].reason)
    finally:
        source.close()


def _read(producer: producers.TableRead) -> list[Any] | None:
    if not can_be_read_now(producer):
        return None
    try:
        return list(islice(read_records(producer, SAMPLE_ROWS), SAMPLE_ROWS))
    except OuzelError as error:
        producer.cache["unread"] = str(error).removesuffix("; declare it as the file has it, and CAST it in the query")
        return None


def find_failed(producer: producers.Producer, comes: bool) -> QueryError | None:
    """Why nothing comes of it, or if something `comes`, why that may be None: the error of the first of its sources that could not be read,
    or of its first step that fails on each of the first records, in the words of a program; None if there is none."""
    if comes:
        return find_suspect(producer)
    graph = producers.entire_graph(producer)
    if failed := [one for one in graph if "unread" in one.cache]:
        problem = f"reads a source that cannot be read (at {failed[0].place}): {failed[0].cache['unread']}"
        advice = _advise_to_read(failed[0])
        return QueryError(problem, instead="" if advice and problem.endswith(advice) else advice)
    for one in graph:
        if isinstance(one, producers.StepTaken) and "raised" in one.cache:
            problem, advice = one.cache["raised"]
            return QueryError(f"is given no record, for {one.step.called} (at {one.place}) {problem}", instead=advice)
    return None


def _advise_to_read(read: producers.Producer) -> str:
    """What to write where the columns of a source are not those of its records."""
    told = str(read.cache["unread"])
    if OF_COLUMNS.search(told) and read.record.hint in (str, bytes):
        return "give it the type of its records, a dataclass or a named tuple whose fields are called as these columns"
    if " declares it " in told:
        return "give the field the type that the file has, and map it to another"
    if lacking := OF_COLUMNS.search(told):
        near = get_close_matches(lacking[1], lacking[2].split(", "), 1)
        return f"did you mean {near[0]}?" if near else "call the record's fields as the columns of the file"
    return ""
