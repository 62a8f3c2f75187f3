"""Tasks of components that SQL made: the one place that opens sources and sinks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from ouzel.compiler.functions.kernel import lower
from ouzel.compiler.plan import WEIGHT, Node, Scan, Sink, SinkMode, Watermark, streamed_inputs
from ouzel.compiler.plan.identity import digest
from ouzel.connectors import open_publisher, open_sink, open_source, reads_of
from ouzel.connectors.base import Reads
from ouzel.connectors.reading import Committed, Source, SourceRequest
from ouzel.connectors.shedding import Shedding
from ouzel.connectors.writing import SinkRequest, SinkWriter
from ouzel.planner.settings import BadRecordPolicy
from ouzel.planner.topology import Component, Task
from ouzel.runtime.checkpoints.names import staged_name
from ouzel.runtime.checkpoints.staged import StagedWriter
from ouzel.runtime.operators.build import build_chain
from ouzel.runtime.operators.chain import Chain
from ouzel.runtime.protocol.messages import BEGINNING_OF_TIME, Place
from ouzel.runtime.protocol.quarantine import Quarantine
from ouzel.runtime.protocol.task import TaskMachine, TaskSetup, carry_counts
from ouzel.runtime.state.context import key_groups_of
from ouzel.runtime.tasks.bolt import ChainBolt
from ouzel.runtime.tasks.call_waits import CallWaits
from ouzel.runtime.tasks.chain_task import SinkEnd
from ouzel.runtime.tasks.context import SOURCE_NOTES, Results, TaskContext
from ouzel.runtime.tasks.found import Finds
from ouzel.runtime.tasks.partitions import NO_HISTORY, Partitions, Ways
from ouzel.runtime.tasks.refusals import Refusals, row_refusals
from ouzel.runtime.tasks.resuming import past_of, sinks_below
from ouzel.runtime.tasks.shedding import LagShedder, NoShedding, Shedder
from ouzel.runtime.tasks.sides import load_sides
from ouzel.runtime.tasks.source import SourceParts, SourceSpout


def make_compiled_task(setup: TaskSetup, context: TaskContext, component: Component) -> TaskMachine:
    """The machine of a component with a chain of plan nodes.

    Raises:
        ConnectorError: its source or sink cannot be opened.
    """
    make = _source_spout if isinstance(component.chain[0], Scan) else _chain_bolt
    return make(setup, context, component)


def _shedder(table: str, limits: Shedding | None, context: TaskContext) -> Shedder:
    path = context.topology.settings.shed_path
    if limits is None:
        return NoShedding()
    return LagShedder(limits, table, context.directory / path if path else None)


def _source_spout(setup: TaskSetup, context: TaskContext, component: Component) -> TaskMachine:
    settings, scan = context.topology.settings, component.chain[0]
    assert isinstance(scan, Scan)
    history = None if context.history is None else context.history.get(component.name, NO_HISTORY)
    options = dict(scan.options if history is None or history.options is None else history.options)
    request = _source_request(scan, options, component.parallelism, context)
    notes = None if context.notes is None else context.notes.with_name(context.notes.name + SOURCE_NOTES)
    source = open_source(scan.connector, replace(request, notes=notes))
    idle = next((node.idle_after_ms for node in component.chain if isinstance(node, Watermark)), None)
    reads = reads_of(scan.connector, scan.table)
    ways = Ways(reads.grows(options), reads.resumes(options), scan.traits.changelog)
    beside_us = _find_closed_beside(component, context) if ways.resumes and not context.goes_on else BEGINNING_OF_TIME
    partitions = Partitions(
        setup.task,
        component.parallelism,
        source,
        _places(context),
        context.journal,
        idle if history is None else None,  # its silence then says nothing about that which it had
        component.keeps,
        ways,
        beside_us,
        _shedder(scan.table, reads.sheds(options), context),
        replays=settings.delivery.tracks,
        find=_finder(component.name, reads, options, source, context),
        goes_on=context.goes_on,
        queue_incarnation=setup.incarnation if scan.traits.by_token else None,
        committed=_find_committed(component.name, scan, source, ways.resumes, context) if history is None else {},
        history=history,
    )
    policy = BadRecordPolicy(options.get("bad.record", "fail"))
    letters = context.directory / options.get("dead-letter.path", settings.dead_letter_path)
    refusals = (Refusals(policy, letters, scan.in_python, options.get("csv.null", "")), row_refusals(context))
    chain = build_chain(component.chain, settings, outputs=component.outputs)
    _load_sides(component, chain, context, setup)
    parts = SourceParts.of(setup, partitions, scan.traits.by_token)
    sink = component.chain[-1]
    end = _sink_end(sink, chain, setup.task, context) if isinstance(sink, Sink) else None
    leaves_epochs = settings.has_epochs and context.leaves_epochs
    spout = SourceSpout(setup, parts, chain, refusals, Quarantine(context.in_flight), end, leaves_epochs)
    if context.restored:
        carry_counts(spout.counts, context.restored[-1].counts)
    return spout


def _places(context: TaskContext) -> Mapping[str, Place]:
    """Where the task reads on: what it has committed since the epoch that it goes on from, else where that left it."""
    places = context.places or {}
    if not context.restored:
        return places
    kept = context.restored[-1]
    if kept.time_us > context.journal.time_us:
        context.journal.tell(kept.time_us)
    return {**kept.places, **places}


def _finder(component: str, reads: Reads, options: dict[str, str], source: Source, context: TaskContext) -> Finds:
    """How partitions are found: of what is at rest once a run, for the files of a folder may be others for the task that looks next."""
    at_rest = reads.at_rest and not reads.grows(options)
    return (lambda: context.found.once(component, source.partitions)) if at_rest else source.partitions


def _find_committed(
    component: str, scan: Scan, source: Source, resumes: bool, context: TaskContext
) -> Mapping[str, Committed] | None:
    """What the source had committed when the run began, where epochs say how far the run is; None if what it says now counts.

    What the run itself has committed since then is none of it: of a partition that an epoch does not know all is to be read again.
    """
    if not resumes or not context.topology.settings.has_epochs:
        return None
    committed = source.committed()
    first = context.found.remember_committed(f"{component} {digest(*sorted(scan.options))}", committed)
    return first if context.begins_anew or context.goes_on or context.leaves_epochs else committed


def _sink_end(sink: Sink, chain: Chain, task: Task, context: TaskContext) -> SinkEnd[Any]:
    return SinkEnd(sink, chain.consolidated, _writer(sink, task, context))


def _find_closed_beside(component: Component, context: TaskContext) -> int:
    """How far a run before had closed the windows that this table feeds, as tables say that feed the same sinks.

    Each table is committed by itself, so one may know more than another. Rows of one that lie in windows which the others do not read
    again must not open these anew: they would be answered once more, with less than all.
    """
    topology, closed_us = context.topology, BEGINNING_OF_TIME
    below = sinks_below(topology, component)
    for other in topology.components:
        scan = other.chain[0] if other.chain else None
        if other.name == component.name or not isinstance(scan, Scan) or not below <= sinks_below(topology, other):
            continue
        options = dict(scan.options)
        if below and reads_of(scan.connector, scan.table).resumes(options):
            source = open_source(scan.connector, _source_request(scan, options, other.parallelism, context))
            try:
                committed = _find_committed(other.name, scan, source, True, context)
                known = source.committed() if committed is None else committed
                closed_us = max(closed_us, past_of(known, other.keeps).closed_us)
            finally:
                source.close()
    return closed_us


def _source_request(scan: Scan, options: dict[str, str], tasks: int, context: TaskContext) -> SourceRequest:
    return SourceRequest(
        table=scan.table,
        options=options,
        columns=scan.columns.polars(),
        directory=context.directory,
        metadata=dict(scan.metadata),
        required=frozenset(field.name for field in scan.columns if not field.nullable),
        predicate=lower(scan.predicate).value if scan.predicate else None,
        name=context.topology.name,
        tasks=tasks,
        again=context.incarnation > 0,
        weight=WEIGHT,
        tracked=context.topology.settings.delivery.tracks,
        anew=context.goes_on or context.history is not None or (context.begins_anew and not context.leaves_epochs),
    )


def _chain_bolt(setup: TaskSetup, context: TaskContext, component: Component) -> TaskMachine:
    settings = context.topology.settings
    sink = component.chain[-1] if isinstance(component.chain[-1], Sink) else None
    upsert_by = sink.keys if sink and sink.mode is SinkMode.UPSERT else ()
    chain = build_chain(component.chain, settings, upsert_by, component.outputs)
    for state in chain.states:
        state.groups = key_groups_of(setup.task.index, component.parallelism)
    _load_sides(component, chain, context, setup)
    end = _sink_end(sink, chain, setup.task, context) if sink else None
    refusals, quarantine = row_refusals(context), Quarantine(context.in_flight)
    ports = tuple(_columns_of(node) for node in streamed_inputs(component.chain[0]))
    bolt = ChainBolt(setup, chain, ports, refusals, quarantine, end)
    if context.restored:
        bolt.restore(context.restored)
    if settings.has_epochs and (context.restored or context.incarnation):
        bolt.take_late_back()
    return bolt


def _load_sides(component: Component, chain: Chain, context: TaskContext, setup: TaskSetup) -> None:
    load_sides(
        component.chain,
        chain.operators,
        context.topology,
        lambda scan: _source_request(scan, dict(scan.options), 1, context),
        CallWaits(setup),
    )


def _columns_of(node: Node) -> tuple[str, ...]:
    return (*node.schema.names, WEIGHT) if node.retracts else node.schema.names


def _writer(sink: Sink, task: Task, context: TaskContext) -> SinkWriter:
    if sink.traits.returned:
        assert context.results is not None, "a query with a result needs somewhere to send it"
        return ResultWriter(context.results)
    topology = context.topology
    request = sink_request(sink, context.directory, topology.name, task.index, topology.settings.run)
    request = replace(request, notes=context.notes, again=context.incarnation > 0, component=task.component)
    if not topology.settings.delivery.publishes:
        return open_sink(sink.connector, request)
    assert context.staged is not None, "rows are staged in the folder of checkpoints"
    publisher = open_publisher(sink.connector, request)
    return StagedWriter(publisher, context.staged / staged_name(task.component, task.index), sink.table)


def sink_request(sink: Sink, directory: Path, name: str, task: int = 0, run: str = "") -> SinkRequest:
    """What the plan asks of a sink, for one of its tasks."""
    return SinkRequest(
        table=sink.table,
        options=dict(sink.options),
        columns=(sink.columns if len(sink.columns) else sink.input.schema).polars(),
        mode=sink.mode.value,
        directory=directory,
        keys=sink.keys,
        weight=WEIGHT,
        name=name,
        task=task,
        run=run,
    )


class ResultWriter:
    """The sink of a trailing SELECT: hands each batch to whoever started the run."""

    flush_interval_ms, flush_rows = 0, 1

    def __init__(self, results: Results) -> None:
        self._results = results

    def write(self, batch_id: int, frame: pl.DataFrame) -> None:
        """Hand one batch on; its id lets the receiver drop what comes twice."""
        self._results.write(batch_id, frame)

    def mark(self, epoch: int, kept: int) -> None:
        self._results.mark(epoch, kept)

    def roll_back(self, epoch: int, generation: int) -> None:
        self._results.roll_back(epoch, generation)

    def flush(self) -> None:
        """Nothing is held back."""

    def close(self) -> None:
        """Nothing to let go of."""
