"""From a logical plan to a topology: rules, then components, then groupings."""

from __future__ import annotations

from ouzel.compiler.plan import UNBOUNDED, Program, Scan, Sink, scans_in
from ouzel.errors import NotSupported, QueryError
from ouzel.planner.components import Part, cut_components, keep_sinks
from ouzel.planner.epochs import check_epochs, with_own_interval
from ouzel.planner.groupings import check_names, grouping_of, parallelism_of
from ouzel.planner.keeping import NOTHING, find_kept
from ouzel.planner.rules import optimise
from ouzel.planner.rules.dag import Dag
from ouzel.planner.settings import Settings
from ouzel.planner.topology import Component, Input, Output, Topology


def plan_topology(program: Program, settings: Settings, name: str, filters: frozenset[str] = frozenset()) -> Topology:
    """The topology that answers the program.

    Args:
        program: what the compiler made; its own SET options are already in `settings`.
        settings: of this run.
        name: the topology's name, unless the setting `query.name` gives one.
        filters: names of the connectors whose sources apply a predicate.

    Raises:
        QueryError: a hint speaks of nothing, or would break the answer; a sink flushes more rarely than its sources wait for acks.
        NotSupported: a node cannot read the changes that it would be given.
    """
    settings = with_own_interval(settings)
    best = optimise(program, filters, tells_late=bool(settings.late_path))
    _check_changelogs(Dag(best.sinks))
    if settings.forgets:
        _check_bounded(Dag(best.sinks), settings)
    _check_asked(Dag(best.sinks))
    for sink in best.sinks:
        _check_flush(sink, settings)
    cut = cut_components(Dag(best.sinks, filters, best.hints))
    check_names(program.hints, cut)
    parts = keep_sinks(cut, program.hints.placed, lambda part: parallelism_of(part, program.hints, settings))
    by_name = {part.name: part for part in parts}
    components = tuple(_component(part, by_name, program, settings) for part in parts)
    check_epochs(components, settings)
    calls_python = any(node.calls_python for part in parts for node in part.chain)
    return Topology(settings.query_name or name, components, settings, bool(program.functions) or calls_python)


def _check_changelogs(dag: Dag) -> None:
    for node in dag.nodes():
        for upstream, accepted in zip(node.inputs, node.accepts, strict=True):
            if upstream.changelog not in accepted:
                kinds = " or ".join(sorted(kind.value for kind in accepted))
                raise NotSupported(
                    f"{node.label}: its input {upstream.changelog.value} rows, and it can only read one that {kinds} them"
                )


def _check_bounded(dag: Dag, settings: Settings) -> None:
    """What is said to forget everything in time must not keep anything for ever."""
    for node in dag.nodes():
        if node.state_bound.startswith(UNBOUNDED):
            raise NotSupported(
                f"'state.ttl' = '{settings.state_ttl}' cannot bound {node.label}: only rows with event time that are never taken back "
                "can be forgotten so that every engine forgets the same",
                instead="leave the setting out, and write /*+ STATE_TTL('table' = '1d') */ into each SELECT that can forget",
                about=("SET", "state.ttl"),
            )


def _check_asked(dag: Dag) -> None:
    """A table that is asked by key is no stream."""
    for node in scans_in(dag.streams()):
        if node.traits.asked is not None:
            raise NotSupported(
                f"table '{node.table}' can be asked by key, and not be read as a stream",
                instead=f"write JOIN {node.table} FOR SYSTEM_TIME AS OF PROCTIME() ON ..., or ask a batch job",
            )


def _check_flush(sink: Sink, settings: Settings) -> None:
    """A batch is acked when its sink has flushed it; a source that does not wait that long sends it again, and again."""
    interval = dict(sink.options).get("flush.interval.ms", "0")
    if settings.delivery.tracks and int(interval) >= settings.ack_timeout_ms:
        raise QueryError(
            f"table '{sink.table}' is flushed every 'flush.interval.ms' = {interval}, and what is not acked after 'ack.timeout.ms' = "
            f"{settings.ack_timeout_ms} is sent again",
            instead=f"SET 'ack.timeout.ms' = '{3 * int(interval)}', or flush more often",
        )


def _component(part: Part, parts: dict[str, Part], program: Program, settings: Settings) -> Component:
    parallelism = parallelism_of(part, program.hints, settings)
    inputs = tuple(
        Input(source, grouping_of(part, port, parallelism, program.hints, [parts[source]]), stream, port)
        for source, stream, port in part.reads
    )
    first = part.chain[0]
    outputs = tuple(
        Output(part.chain[place].schema, part.chain[place].retracts, stream, place) for stream, place in part.streams
    )
    keeps = find_kept(program)[first.table] if isinstance(first, Scan) else NOTHING
    return Component(part.name, parallelism, inputs, outputs, part.chain, keeps=keeps)
