"""What a Python program calls: `query` compiles SQL; `start`, `run` and `table` run it, or a topology written by hand."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ouzel import session
from ouzel.compiler.plan import Program, Scan, Sink, SinkMode
from ouzel.errors import PlanError, QueryError, TopologyError
from ouzel.planner.packing import pack
from ouzel.planner.settings import Settings
from ouzel.planner.topology import DEFAULT_STREAM, Component, Grouping, GroupingKind, Input, Topology
from ouzel.runtime.run import Handle, RunState, Status, lost_state

if TYPE_CHECKING:
    import polars as pl

    from ouzel.runtime.operators.result_table import ResultTable

WAIT_SECONDS = 0.5


def query(text: str | Path, directory: str | Path = ".", **settings: Any) -> session.Job:
    """Compile and plan a query: its text, with paths relative to `directory`, or the path of its file, with paths relative to that.

    Args:
        settings: as in docs/settings.md, with underscores for dots: `parallelism=2`; they win over the query's own SET.

    Raises:
        QueryError: the query is wrong or not supported.
        PlanError: it cannot be packed.
    """
    pairs = [(key, str(value.value if isinstance(value, Enum) else value)) for key, value in settings.items()]
    if isinstance(text, Path):
        return session.load(text, pairs)
    return session.load_text(text, Path(directory).resolve(), "query", pairs)


def start(what: session.Job | Topology, engine: str = "heron") -> Handle:
    """Run a query or a topology, and return at once.

    Raises:
        OuzelError: it could not be started.
    """
    if isinstance(what, Topology):
        job = session.Job("", Path.cwd(), Program(()), what.settings, what, pack(what))
        return session.start(job, engine)
    return session.start(what, engine)


def run(what: session.Job | Topology, engine: str = "heron") -> Status:
    """Run a query or a topology to its end; results of a trailing SELECT are dropped.

    Raises:
        OuzelError: it could not be started, it failed, or it lost state and its settings do not accept that.
    """
    handle = start(what, engine)
    for _ in _frames(handle, what.settings):
        pass
    return handle.status()


def table(what: session.Job | Topology, engine: str = "heron", *, of: str = "") -> pl.DataFrame:
    """Run to the end: the table that a trailing SELECT's changes add up to, or all rows that a topology's component `of` emits.

    Raises:
        OuzelError: there is no such result, it could not be started, or it failed.
    """
    from ouzel.runtime.operators.result_table import ResultTable

    if isinstance(what, Topology):
        topology = _with_result(what, of)
        result = ResultTable(topology.component(of).outputs[0].schema)
        return _folded(result, start(topology, engine), topology.settings)
    sink = next((sink for sink in what.program.sinks if sink.connector == "result"), None)
    if sink is None:
        raise QueryError(
            "this query writes into tables and has no result", instead="end it with a SELECT, or use run()"
        )
    return _folded(ResultTable(sink.columns or sink.input.schema), start(what, engine), what.settings)


def _with_result(topology: Topology, of: str) -> Topology:
    """The topology with one more component, which hands what `of` emits on its default stream to whoever started the run."""
    outputs = {component.name: component.outputs for component in topology.components}
    stream = next((output for output in outputs.get(of, ()) if output.stream == DEFAULT_STREAM), None)
    if stream is None:
        emitters = ", ".join(name for name, streams in outputs.items() if streams)
        raise PlanError(f"no component '{of}' emits a default stream; say of= one of {emitters}")
    rows = Scan(of, "stream", (), stream.schema)
    sink = Sink(rows, "result", "result", (), SinkMode.APPEND, columns=stream.schema)
    reader = Component("result", 1, (Input(of, Grouping(GroupingKind.GLOBAL)),), (), (sink,))
    return replace(topology, components=(*topology.components, reader))


def _folded(result: ResultTable, handle: Handle, settings: Settings) -> pl.DataFrame:
    for frame in _frames(handle, settings):
        result.apply(frame)
    return result.frame()


def _frames(handle: Handle, settings: Settings) -> Iterator[pl.DataFrame]:
    try:
        ended = False
        while not ended:
            ended = handle.wait(WAIT_SECONDS)
            yield from handle.results()
    finally:
        status = handle.stop()
    if status.state is RunState.FAILED:
        raise TopologyError(status.reason)
    lost = lost_state(status, settings)
    if lost:
        raise TopologyError(f"{lost}, so the answer may lack rows; the setting state_lost='accept' takes it as it is")
