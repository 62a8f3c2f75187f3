"""From producers to the logical plan that SQL compiles to, and to a job that every engine runs."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from typing import Any

from ouzel.compiler.catalog import GIVEN_ROWS, RESULT, RETURNED, VALUES
from ouzel.compiler.coercion import cast_to
from ouzel.compiler.expressions import Case, Column, Expression, GetField, Literal
from ouzel.compiler.functions.resolution import resolve_call
from ouzel.compiler.plan import (
    MERGED,
    MERGED_BY,
    Aggregate,
    AggregateCall,
    ApplyPython,
    Emit,
    EmitRule,
    Filter,
    Join,
    JoinKind,
    Node,
    Program,
    Project,
    PythonStep,
    Scan,
    Served,
    SideJoin,
    Sink,
    SinkMode,
    SortKey,
    StepKind,
    StepPart,
    Union,
    check_merged,
    choose_mode,
    walk,
)
from ouzel.compiler.plan.identity import digest
from ouzel.compiler.records import KEY, VALUE, Form, RecordType, pair_of
from ouzel.compiler.sql import compile_sql
from ouzel.compiler.sql.queries.scope import Relation, relation_of
from ouzel.compiler.sql.statements.epochs import convert_epochs, read_as
from ouzel.compiler.types import BIGINT, BOOLEAN, Field, Schema
from ouzel.compiler.written import NodeLocation
from ouzel.dsl.columns import keep_columns, name_columns
from ouzel.dsl.functions import check_sendable, function_id
from ouzel.dsl.options import StepOptions, combining_hints, parallelism_hints
from ouzel.dsl.producers import (
    AlsoPlanned,
    AskedPairs,
    ConnectorTable,
    Filtered,
    GivenRecords,
    JoinedPairs,
    Merged,
    NamedAs,
    Producer,
    Queried,
    RunningSum,
    Selected,
    StepTaken,
    Summed,
    Swapped,
    TableRead,
    Timed,
    WindowSum,
    Written,
    entire_graph,
)
from ouzel.dsl.running_sums import running_nodes
from ouzel.dsl.shapes import in_classes
from ouzel.dsl.sink_advice import advise_of_changes
from ouzel.dsl.windows import EVENT_TIME, TIME, time_node, window_nodes
from ouzel.errors import NotSupported, PlanError, QueryError
from ouzel.job import Job, connector_traits
from ouzel.monoid import TopK
from ouzel.planner.build import plan_topology
from ouzel.planner.packing import pack
from ouzel.planner.settings import Settings, setting_text

NUMBERS = Schema((Field("id", BIGINT, False),))
"""The column of the table of as many rows as the program holds records, from 0; called as in Spark and in SQL's VALUES."""


@dataclass(frozen=True)
class HeldRecords:
    """Records that a program holds, as a function of their numbers."""

    records: tuple[Any, ...]

    def __call__(self, number: int) -> tuple[Any]:
        """A copy of one of them: who changes it changes neither the program's nor what a replay gives."""
        return (deepcopy(self.records[number]),)


class Builder:
    """Makes the nodes of producers, each once, and gathers the sinks on the way."""

    def __init__(self, end: Producer) -> None:
        self.sinks: list[Sink] = []
        self._nodes: dict[int, Node] = {}
        self._names: dict[int, str] = {}
        self._tables: dict[str, object] = {}
        self._orders: dict[int, Sequence[SortKey]] = {}
        for producer in entire_graph(end):
            if isinstance(producer, NamedAs):
                self._names[id(_skip_names(producer))] = producer.name

    def node(self, producer: Producer) -> Node:
        """What gives its records: the columns of the record, and behind them what is carried along."""
        for below in entire_graph(producer):
            if id(below) not in self._nodes:
                self._nodes[id(below)] = self._name(below, self._plan(below))
        return self._nodes[id(producer)]

    def result(self, producer: Producer) -> Sink:
        """The sink that hands its records to whoever starts the run."""
        node = keep_columns(self.node(producer), producer.record.schema.names)
        mode = SinkMode.RETRACT if node.retracts else SinkMode.APPEND
        shown = tuple(self._orders.get(id(_skip_names(producer)), ()))
        return Sink(node, RESULT, RESULT, (), mode, columns=node.schema, traits=RETURNED, sorted_by=shown)

    def _name(self, producer: Producer, node: Node) -> Node:
        name = self._names.get(id(producer))
        if not name:
            return node
        if isinstance(node, ApplyPython):
            node = replace(node, steps=tuple(replace(step, name=name) for step in node.steps))
        return replace(node, written=replace(node.written, name=name))

    def _below(self, producer: Producer) -> Node:
        return self._nodes[id(producer)]

    def _plan(self, producer: Producer) -> Node:
        match producer:
            case TableRead():
                return self._read(producer)
            case GivenRecords():
                return self._given(producer)
            case StepTaken(below=below, step=step):
                return _apply(self._below(below), below.record, producer.record, step)
            case Swapped(below=below, places=places):
                return _swap(self._below(below), below.record, producer.record, places)
            case Filtered(below=below, condition=condition):
                return Filter(self._below(below), _condition(condition.bind(below.record.schema)))
            case Selected(below=below, items=items):
                bound = tuple((name, one.bind(below.record.schema)) for name, one in items)
                return Project(self._below(below), (*bound, *_carry(self._below(below), below.record)))
            case Merged(parts=parts):
                return _union([(self._below(part), part.record) for part in parts])
            case NamedAs(below=below) | AlsoPlanned(below=below):
                return self._below(below)
            case JoinedPairs(below=below, other=other, stays=stays):
                kind = JoinKind.LEFT if stays else JoinKind.INNER
                return _join(self._below(below), self._below(other), kind, producer)
            case AskedPairs(below=below):
                return _ask(self._below(below), producer)
            case Summed():
                return self._sum(producer)
            case Timed(below=below, column=column, delay=delay):
                return time_node(self._below(below), column, delay)
            case WindowSum(below=below, size=size, slide=slide, zone=zone):
                values, call = self._summable(producer)
                return window_nodes(values, call, size, slide, zone)
            case RunningSum(below=below):
                values, call = self._summable(producer)
                added = Column(below.record.columns[1].type, VALUE)
                return running_nodes(values, call, added, producer)
            case Written(below=below, table=table):
                self._sink(self._below(below), below.record, table, producer.place)
                return self._below(below)
            case Queried(text=text, tables=tables):
                given = {name: _relation(self._below(one), one.record, name) for name, one in tables.items()}
                result = _query(text, given)
                self._orders[id(producer)] = result.sorted_by
                return result.input
        raise PlanError(f"{type(producer).__name__} has no plan")

    def _read(self, producer: TableRead) -> Node:
        table, fields = producer.table, producer.record.columns
        assert table.traits.reads is not None, "one that cannot be read was refused"
        names = table.columns or producer.record.schema.names
        if len(names) != len(fields):
            raise QueryError(
                f"{len(names)} columns are named of a record of {len(fields)}, at {producer.place}",
                instead=f"name one for each of {', '.join(producer.record.schema.names)}",
            )
        declared = {name: field.type for name, field in zip(names, fields, strict=True)}
        unit = table.unit_of_epoch
        columns = Schema(tuple(Field(name, read_as(kind, unit)) for name, kind in declared.items()))
        traits, name = table.traits.reads(dict(table.options)), self._free(table.name, table)
        scan = Scan(name, table.traits.name, table.options, columns, traits=traits, in_python=True)
        return name_columns(convert_epochs(scan, declared, unit), producer.record.schema.names)

    def _given(self, producer: GivenRecords) -> Node:
        """A row for each record, so that each is handled, and fails, by itself."""
        rows = (("rows", str(len(producer.records))),)
        numbers = Scan(self._free(producer.name, producer), VALUES, rows, NUMBERS, traits=GIVEN_ROWS)
        content = digest("records", *map(repr, producer.records))
        held, called = HeldRecords(producer.records), f"Source.of {producer.name}"
        step = PythonStep(StepKind.FLAT_MAP, StepPart.RECORD, held, content, called, producer.place)
        number = RecordType(Form.VALUE, NUMBERS.fields, (int,))
        return ApplyPython(numbers, (step,), number, producer.record, written=NodeLocation(name=producer.name))

    def _free(self, wanted: str, table: object) -> str:
        """This name, or the first like it that no other table has."""
        names = (wanted if number < 2 else f"{wanted}_{number}" for number in range(1, len(self._tables) + 2))
        name = next(name for name in names if self._tables.get(name, table) is table)
        self._tables[name] = table
        return name

    def _summable(self, producer: Summed | WindowSum | RunningSum) -> tuple[Project, AggregateCall]:
        """Keys and values, cast as the monoid wants them, and what adds them up.

        Raises:
            NotSupported: the values change, and the monoid takes nothing back.
        """
        below, given_by = self._below(producer.below), producer.below.record
        kind, monoid = given_by.columns[1].type, in_classes(producer.monoid, given_by.hints[1])
        signature = monoid.signature(kind)
        if below.retracts and not monoid.aggregate(kind).state.takes_back:
            raise NotSupported(
                f"the sum at {producer.place}: {type(monoid).__name__} cannot take back what it has added, and the values change",
                instead="write sql('SELECT * FROM this ORDER BY value DESC LIMIT 5') for the largest of all"
                if isinstance(monoid, TopK)
                else "add up values that are only added, or take a monoid with an inverse",
            )
        value: Expression = Column(kind, VALUE)
        if signature.parameter is not None and signature.parameter != kind:
            value = cast_to(value, signature.parameter)
        key = Column(given_by.columns[0].type, KEY)
        given = Project(below, ((KEY, key), (VALUE, value), *_carry(below, given_by)))
        return given, monoid.call(VALUE, VALUE, value.type)

    def _sum(self, producer: Summed) -> Node:
        values, call = self._summable(producer)
        node = Aggregate(values, (KEY,), (call,), Emit(EmitRule.CHANGES))
        if producer.store is not None and producer.store.merges:
            parts, store = _parts(values, call, producer)
            self._sink(parts, producer.record, store, producer.place, (KEY,))
        elif producer.store is not None:
            self._sink(node, producer.record, producer.store, producer.place, (KEY,))
        return node

    def _sink(
        self, node: Node, record: RecordType, table: ConnectorTable, place: str, keys: tuple[str, ...] | None = None
    ) -> None:
        names = table.columns or record.schema.names
        if len(names) != len(record.columns):
            raise QueryError(
                f"'{table.name}' names {len(names)} columns of a record of {len(record.columns)}, at {place}",
                instead=f"name one for each of {', '.join(record.schema.names)}",
            )
        wanted = keys or ((KEY,) if record.is_pair and frozenset({KEY}) in node.unique_keys else ())
        mode = _mode(node, table, bool(wanted), keys is not None, place)
        fitted = name_columns(keep_columns(node, record.schema.names), names)
        called = dict(zip(record.schema.names, names, strict=True))
        written = tuple(called[key] for key in wanted) if mode in (SinkMode.UPSERT, SinkMode.MERGE) else ()
        traits = table.traits.writes
        assert traits is not None, "one that cannot be written was refused"
        if mode is SinkMode.MERGE:
            check_merged(table.name, traits.merged(dict(table.options)), written, fitted.schema)
        self.sinks.append(
            Sink(
                fitted,
                self._free(table.name, table),
                table.traits.name,
                table.options,
                mode,
                written,
                fitted.schema,
                traits=traits,
            )
        )


def _parts(values: Project, call: AggregateCall, producer: Summed) -> tuple[Node, ConnectorTable]:
    """The values as a store adds them up, and the store told how.

    Raises:
        NotSupported: it cannot, or the values change.
    """
    store = producer.store
    assert store is not None, "asked for with a store alone"
    merged_by = MERGED_BY.get(call.function) if call.row is None else None
    if merged_by is None:
        raise NotSupported(
            f"the store '{store.name}' cannot add up {type(producer.monoid).__name__} (at {producer.place})",
            instead="leave out merge=True, and it is given the totals; or keep Sum, Count, Min, Max, And or Or",
        )
    if values.retracts:
        raise NotSupported(
            f"the store '{store.name}' takes back nothing that it has added, and the values change (at {producer.place})",
            instead="leave out merge=True, and it is given the totals",
        )
    value: Expression = Column(values.schema[VALUE].type, VALUE)
    if call.function == "count":
        absent = resolve_call("is_null", [value])
        value = Case(BIGINT, ((absent, Literal(BIGINT, 0)),), Literal(BIGINT, 1))
    given = Project(values, ((KEY, Column(values.schema[KEY].type, KEY)), (VALUE, cast_to(value, call.type))))
    named = store.columns[-1] if store.columns else VALUE
    return given, replace(store, options=(*store.options, (MERGED, f"{named}:{merged_by}")))


def _mode(node: Node, table: ConnectorTable, keyed: bool, is_store: bool, place: str) -> SinkMode:
    """How a table takes what a node gives.

    Raises:
        QueryError: it cannot.
    """
    reason = table.traits.unwritable(dict(table.options)) if table.traits.unwritable else ""
    if reason:
        raise QueryError(f"'{table.name}' cannot be written (at {place}): {reason}", instead="write to another table")
    changes = node.retracts or (is_store and not table.merges)
    mode = choose_mode(table.traits, table.options, changes=changes, keyed=keyed)
    if mode is not None:
        return mode
    raise QueryError(
        f"'{table.name}' ({table.traits.name}) only takes new records, and these change (at {place})",
        instead=advise_of_changes(table.traits, keyed),
    )


def _skip_names(producer: Producer) -> Producer:
    """What a name speaks of: the last thing that computes."""
    while isinstance(producer, NamedAs | Written | AlsoPlanned):
        producer = producer.below
    return producer


def _carry(node: Node, record: RecordType) -> tuple[tuple[str, Expression], ...]:
    """The columns that are no part of the record."""
    own = record.schema.names
    return tuple((field.name, Column(field.type, field.name)) for field in node.schema if field.name not in own)


def _apply(node: Node, takes: RecordType, gives: RecordType, step: PythonStep) -> Node:
    return ApplyPython(node, (step,), takes, gives, tuple(name for name, _ in _carry(node, takes)))


def _swap(node: Node, pair: RecordType, gives: RecordType, places: tuple[int, ...]) -> Node:
    columns: list[Expression] = [Column(pair.columns[place].type, pair.columns[place].name) for place in places]
    if len(columns) == 1 and gives.form is not Form.VALUE:
        columns = [GetField(one.type, columns[0], one.name) for one in gives.columns]
    return Project(node, (*zip(gives.schema.names, columns, strict=True), *_carry(node, pair)))


OTHER_KEY, OTHER = "other_key", "other"
"""The columns of what a stream is joined with."""


def _join(node: Node, other: Node, kind: JoinKind, producer: JoinedPairs) -> Node:
    """Pairs of the key and a row of both values."""
    left, right = keep_columns(node, (KEY, VALUE)), name_columns(keep_columns(other, (KEY, VALUE)), (OTHER_KEY, OTHER))
    joined = Join(left, right, kind, ((KEY, OTHER_KEY),), written=NodeLocation(place=producer.place))
    return Project(joined, _key_and_both(joined, producer))


def _key_and_both(joined: Join, producer: Producer) -> tuple[tuple[str, Expression], ...]:
    """The columns of a pair of the key and a row of both values."""
    values = [Column(joined.schema[name].type, name) for name in (VALUE, OTHER)]
    both = cast_to(resolve_call("row", values), producer.record.columns[1].type)
    return (KEY, Column(joined.schema[KEY].type, KEY)), (VALUE, both)


def _ask(node: Node, producer: AskedPairs) -> Node:
    """Pairs of the key and a row of the value and what the service has.

    Raises:
        NotSupported: the pairs change.
        QueryError: the service cannot be sent to the processes.
    """
    called, below = producer.called, producer.below.record
    if node.retracts:
        raise NotSupported(
            f"{called} is asked for pairs that change, at {producer.place}: a pair that is taken back would be asked for again, and may be "
            "answered otherwise than when it came",
            instead="ask before they are summed",
        )
    (key, _), (_, other) = below.hints, producer.record.hints[1].__args__
    id = function_id(producer.service.get_many)
    served = Served(called, pair_of(key, other), (OTHER_KEY, OTHER), producer.service, id, producer.place)
    joined = SideJoin(node, served, JoinKind.LEFT, ((KEY, OTHER_KEY),), asked=True)
    return Project(joined, (*_key_and_both(joined, producer), *_carry(node, below)))


def _condition(expression: Expression) -> Expression:
    if expression.type != BOOLEAN:
        raise QueryError(f"{expression} is {expression.type}, and a filter needs a condition", instead="compare it")
    return expression


def _union(parts: list[tuple[Node, RecordType]]) -> Node:
    """All rows, under the first part's names; what is carried goes along if all carry it."""
    first, record = parts[0]
    carried = [name for name, _ in _carry(first, record) if all(name in node.schema for node, _ in parts)]
    aligned = []
    for node, own in parts:
        names = (*own.schema.names, *carried)
        aligned.append(name_columns(keep_columns(node, names), (*record.schema.names, *carried)))
    return Union(tuple(aligned))


def _relation(node: Node, record: RecordType, name: str) -> Relation:
    """A stream as a table: the columns of its records, and its event time if it has one."""
    shown = record.schema.names
    timed = (TIME,) if TIME in node.schema and EVENT_TIME not in shown else ()
    relation = relation_of(keep_columns(node, (*shown, *timed)), name)
    columns = tuple(replace(one, name=EVENT_TIME) if one.name in timed else one for one in relation.columns)
    return replace(
        relation,
        columns=columns,
        undated="call event_time(column, delay) before sql(), and take DESCRIPTOR(event_time)",
    )


def _query(text: str, given: Mapping[str, Relation]) -> Sink:
    """What a query makes of these relations, and in which order it is shown.

    Raises:
        QueryError: it is wrong, or does more than SELECT.
    """
    program = compile_sql(text, connector_traits(), relations=given)
    result = program.result
    if (
        result is None
        or len(program.sinks) > 1
        or program.settings
        or program.reconciles
        or program.explain is not None
    ):
        raise QueryError(
            "sql() takes one SELECT, and the tables and views that it reads", instead="leave the rest to the program"
        )
    return result


def schema_of_query(text: str, tables: Mapping[str, Producer]) -> Schema:
    """The columns of what a query makes of these.

    Raises:
        QueryError: it is wrong.
    """
    relations = {name: _relation(Builder(one).node(one), one.record, name) for name, one in tables.items()}
    return _query(text, relations).input.schema


def plan_job(end: Producer, options: Mapping[str, StepOptions], answers: bool, given: Mapping[str, object]) -> Job:
    """The job of a program; with `answers` the records of its end are handed to whoever starts it.

    Raises:
        QueryError: a function cannot be sent, a sink cannot take what it is given, an option speaks of nothing.
    """
    builder = Builder(end)
    builder.node(end)
    sinks = (*builder.sinks, *([builder.result(end)] if answers else []))
    if not sinks:
        raise QueryError("this stream writes nothing", instead="end it with write(sink)")
    program = Program(sinks)
    for sink in sinks:
        for node in walk(sink):
            for step in node.steps if isinstance(node, ApplyPython) else ():
                check_sendable(step.function, step.called, step.place)
            if isinstance(node, Served):
                check_sendable(node.service.get_many, node.called, node.place)
    settings = Settings().with_values([(key, setting_text(key, value)) for key, value in given.items()])
    called = re.sub(r"\W+", "_", PurePath(end.place.rpartition(":")[0]).stem)
    name = settings.query_name or re.sub(r"^(\d+|_ipython_input_.*)$", "notebook", called) or "program"
    filters = frozenset(key for key, traits in connector_traits().items() if traits.filters)
    named = (producer.name for producer in entire_graph(end) if isinstance(producer, NamedAs))
    program = replace(program, hints=combining_hints(options, program, named))
    topology = plan_topology(program, settings, name, filters)
    tasks = parallelism_hints(options, topology)
    if tasks:
        program = replace(program, hints=replace(program.hints, parallelism=tasks))
        topology = plan_topology(program, settings, name, filters)
    return Job("", Path.cwd(), program, topology, pack(topology))
