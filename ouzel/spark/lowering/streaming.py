"""The same plan as Structured Streaming queries: one for each statement that writes. Reads and writes nothing.

The lowest aggregate of a sink is Spark's own streaming aggregation; what stands above it is a function over one micro-batch's table.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from pathlib import Path
from textwrap import indent

from ouzel.compiler.plan import ApplyPython, Node, Program, Sink, reads_for_itself, scans_in, walk
from ouzel.errors import NotSupported
from ouzel.planner.rules.dag import Dag
from ouzel.planner.rules.keep_first_rows import keep_first_rows
from ouzel.spark.lowering.batch_plan import batch_plan
from ouzel.spark.lowering.late_tables import statements, together
from ouzel.spark.lowering.python_steps import steps_text
from ouzel.spark.lowering.state_nodes import InState, operators_text
from ouzel.spark.lowering.state_plan import in_every_batch, operator_reasons, with_our_operators
from ouzel.spark.lowering.statements import write_statements
from ouzel.spark.lowering.streaming_nodes import lower_streaming
from ouzel.spark.lowering.streaming_plan import (
    aggregates,
    as_streams,
    check_one_mode,
    cut_streaming_plan,
    find_kept_keys,
    in_time,
    out_of_time,
    with_ends,
    with_side_tables,
)
from ouzel.spark.lowering.text import comment, identifier, quote


class OutputMode(Enum):
    """What Spark gives a sink in each micro-batch: new rows, the rows that changed, or the whole table as it stands."""

    APPEND = "append"
    UPDATE = "update"
    COMPLETE = "complete"


@dataclass(frozen=True)
class StreamingQuery:
    """One statement's streaming query.

    Args:
        sink: where its rows go.
        mode: Spark's output mode.
        text: PySpark statements that define the frames; they need the names `spark` (in ANSI mode and UTC), `F`, `T`, `read_stream`
            `read_table`, `in_state`, `ask_table` and `python_steps`.
        frame: the variable that then holds the streaming DataFrame.
        after: a function over one micro-batch's static frame, `def finish(batch): ... return frame`; empty if nothing is left to do. It
            may read `batch` several times: persist it.
        keys: in UPDATE mode, the columns that tell rows apart.
        functions: Python that defines the user's functions and our operators, by names that both texts use; empty without any.
        ours: the nodes that our operators compute in Spark's state, and why Spark's own do not. Then rows may carry WEIGHT.
        late: the table of the statement's LATE INTO. The frame then holds the rows of both, as `late_tables.together` has put them.
    """

    sink: Sink
    mode: OutputMode
    text: str
    frame: str
    after: str
    keys: tuple[str, ...] = ()
    functions: str = ""
    ours: Mapping[str, str] = field(default_factory=dict)
    late: Sink | None = None


def streaming_queries(program: Program, directory: Path, name: str) -> tuple[StreamingQuery, ...]:
    """One query for each statement of the program; relative paths of tables start at `directory`, `name` is what the program is called.

    Raises:
        NotSupported: Structured Streaming cannot run something of it; the text names the construct.
    """
    return tuple(_query(replace(program, sinks=sinks), directory, name) for sinks in statements(program.sinks))


def _query(program: Program, directory: Path, name: str) -> StreamingQuery:
    """Spark's own nodes alone where they can answer the query; else our operators in Spark's state for what Spark has not."""
    dag = with_side_tables(batch_plan(program))
    for node in dag.streams():
        _refuse_timed_python(node)
    if len(dag.sinks) > 1:
        return replace(_with_ours(together(dag), directory, name), sink=dag.sinks[0], late=dag.sinks[1])
    try:
        return _of_spark(dag, directory, name)
    except NotSupported:
        return _with_ours(dag, directory, name)


def _of_spark(dag: Dag, directory: Path, name: str) -> StreamingQuery:
    """Spark gives a query one output mode: what can be in append mode is, then what can be in update mode, all else is cut.

    Raises:
        NotSupported: Spark has no node of its own for something.
    """
    ours = with_our_operators(dag)
    if any(isinstance(node, InState) and not node.operator.groups for node in ours.nodes()):
        raise NotSupported("Spark has no node of its own for it")
    if any(scan.retracts for scan in scans_in(dag.nodes())):
        raise NotSupported("Spark's own streams have no rows that are taken back")
    _check_own_aggregates(dag)
    (sink,) = dag.sinks
    mode, keys, after, rest = OutputMode.APPEND, find_kept_keys(sink), "", tuple[Dag, ...]()
    if not any(node.retracts for node in aggregates(dag)):
        stream = in_time(dag)
    elif keys is not None:
        mode, stream = OutputMode.UPDATE, in_time(dag)
    else:
        check_one_mode(dag)
        mode = OutputMode.COMPLETE
        stream, left = cut_streaming_plan(out_of_time(dag))
        after, rest = _function(sink, left), (left,)
    if mode is not OutputMode.APPEND and any(node.joins_rows and not reads_for_itself(node) for node in stream.nodes()):
        raise NotSupported("Structured Streaming joins streams in append mode alone")
    stream = as_streams(stream, mode is OutputMode.APPEND)
    if not all(node.keys for node in aggregates(dag)):
        stream = with_ends(stream)
    text = _text(write_statements(stream, lower_streaming), directory, f"{name}: {sink.table}, in {mode.value} mode")
    kept = (keys or ()) if mode is OutputMode.UPDATE else ()
    return StreamingQuery(sink, mode, text, identifier(sink.table), after, kept, steps_text(stream, *rest))


def _check_own_aggregates(dag: Dag) -> None:
    for node in aggregates(dag):
        if node.lifetime:
            raise NotSupported("Structured Streaming forgets no key by its own time")
        if node.emit.lateness_us or node.leaves_last:
            raise NotSupported("Structured Streaming has neither lateness nor groups that leave at the end")


def _with_ours(dag: Dag, directory: Path, name: str) -> StreamingQuery:
    """In append mode, in which rows that are taken back carry a weight: then a query may have any number of operators."""
    stream = as_streams(in_time(with_our_operators(keep_first_rows(dag))), True)
    if in_every_batch(stream):
        stream = with_ends(stream)
    (sink,) = stream.sinks
    text = _text(write_statements(stream, lower_streaming), directory, f"{name}: {sink.table}, in append mode")
    functions = steps_text(stream) + operators_text(stream)
    return StreamingQuery(
        dag.sinks[0], OutputMode.APPEND, text, identifier(sink.table), "", (), functions, operator_reasons(stream)
    )


def _refuse_timed_python(node: Node) -> None:
    """Spark forgets which column is the event time where Python makes new rows."""
    if not node.closes_windows:
        return
    python = [below for below in walk(node) if below.calls_python]
    if python:
        step = next((below.steps[-1] for below in python if isinstance(below, ApplyPython)), None)
        example = f", as {step.called} at {step.place}" if step else ""
        raise NotSupported(
            f"Structured Streaming cannot take functions of Python below a window that closes{example}: "
            "it forgets the event time there",
            instead="run it as a topology, or as a batch job",
        )


def _text(body: str, directory: Path, title: str) -> str:
    folder = [f"folder = {quote(str(directory))}\n"] if "folder" in body else []
    return "\n".join([comment(title), *folder, body])


def _function(sink: Sink, rest: Dag) -> str:
    body = indent(f"{write_statements(rest, lower_streaming)}return {identifier(sink.table)}\n", "    ")
    return f"def finish(batch):\n{body}"
