"""The same plan as Structured Streaming queries: one for each sink. Reads and writes nothing.

The lowest aggregate of a sink is Spark's own streaming aggregation; what stands above it is a function over one micro-batch's table.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from textwrap import indent

from ouzel.compiler.plan import ApplyPython, Node, Program, Sink, walk
from ouzel.errors import NotSupported
from ouzel.planner.rules.dag import Dag
from ouzel.spark.lowering.batch_plan import batch_plan
from ouzel.spark.lowering.python_steps import steps_text
from ouzel.spark.lowering.statements import write_statements
from ouzel.spark.lowering.streaming_nodes import STREAMING, lower_streaming
from ouzel.spark.lowering.streaming_plan import (
    aggregates,
    as_streams,
    check_one_mode,
    cut_streaming_plan,
    find_kept_keys,
    in_time,
    out_of_time,
    with_ends,
)
from ouzel.spark.lowering.text import comment, identifier, quote


class OutputMode(Enum):
    """What Spark gives a sink in each micro-batch: new rows, the rows that changed, or the whole table as it stands."""

    APPEND = "append"
    UPDATE = "update"
    COMPLETE = "complete"


@dataclass(frozen=True)
class StreamingQuery:
    """One sink's streaming query.

    Args:
        sink: where its rows go.
        mode: Spark's output mode.
        text: PySpark statements that define the frames; they need the names `spark` (in ANSI mode and UTC), `F`, `T`, `read_stream`
            and `python_steps`.
        frame: the variable that then holds the streaming DataFrame.
        after: a function over one micro-batch's static frame, `def finish(batch): ... return frame`; empty if nothing is left to do. It
            may read `batch` several times: persist it.
        keys: in UPDATE mode, the columns that tell rows apart.
        functions: Python that defines the user's functions, by names that both texts use; empty without any.
    """

    sink: Sink
    mode: OutputMode
    text: str
    frame: str
    after: str
    keys: tuple[str, ...] = ()
    functions: str = ""


def streaming_queries(program: Program, directory: Path, name: str) -> tuple[StreamingQuery, ...]:
    """One query for each sink of the program; relative paths of tables start at `directory`, `name` is what the program is called.

    Raises:
        NotSupported: Structured Streaming cannot run something of it; the text names the construct.
    """
    return tuple(_query(replace(program, sinks=(sink,)), directory, name) for sink in program.sinks)


def _query(program: Program, directory: Path, name: str) -> StreamingQuery:
    """Spark gives a query one output mode: what can be in append mode is, then what can be in update mode, all else is cut."""
    dag = batch_plan(program)
    for node in dag.streams():
        if not node.declares_time:  # `in_time` and `out_of_time` replace it
            _refuse_by_place(node)  # before the modes below refuse what follows from it
        _refuse_timed_python(node)
        if node.groups and node.groups.emit.lateness_us:
            raise NotSupported(
                "EMIT AFTER WATERMARK WITH LATENESS: in Structured Streaming a window that has closed takes no rows",
                instead="leave WITH LATENESS out and let the watermark come later, or use --engine heron",
            )
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
    stream = as_streams(stream, mode is OutputMode.APPEND)
    if not all(node.keys for node in aggregates(dag)):
        stream = with_ends(stream)
    text = _text(write_statements(stream, lower_streaming), directory, f"{name}: {sink.table}, in {mode.value} mode")
    kept = (keys or ()) if mode is OutputMode.UPDATE else ()
    return StreamingQuery(sink, mode, text, identifier(sink.table), after, kept, steps_text(stream, *rest))


def _refuse_by_place(node: Node) -> None:
    """Refuse what has no streaming form, with the line where a program in Python has it."""
    try:
        STREAMING[type(node)]
    except NotSupported as error:
        where = f" (at {node.written.place})" if node.written.place else ""
        raise NotSupported(f"{error.problem}{where}", instead=error.instead) from None


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
