"""What a Python program calls: `query` compiles SQL; `start`, `run` and `table` run it, or a topology written by hand."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields, replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast, runtime_checkable

from ouzel import session
from ouzel.compiler.catalog import RESULT, RETURNED, UNREAD
from ouzel.compiler.plan import Program, Scan, Sink, SinkMode
from ouzel.compiler.user_code import named_by_caller
from ouzel.errors import PlanError, QueryError, SubmissionError, TopologyError
from ouzel.planner.api import TopologyBuilder
from ouzel.planner.declarer import BoltDeclarer
from ouzel.planner.packing import pack
from ouzel.planner.settings import Settings, setting_text
from ouzel.planner.topology import DEFAULT_STREAM, Component, Grouping, GroupingKind, Input, Topology
from ouzel.runtime.observe.advice import Advice
from ouzel.runtime.observe.table_losses import warn_of_endless_table, warn_of_late
from ouzel.runtime.run import Handle, RunState, Status, describe_lost_state

if TYPE_CHECKING:
    import polars as pl

    from ouzel.compiler.functions.known import Row
    from ouzel.runtime.operators.result_table import ResultTable


@runtime_checkable
class Runs(Protocol):
    """A program's stream."""

    def job(self) -> session.Job:
        """Its query."""

    def run(self, engine: str) -> Status:
        """Run what it writes."""


What = session.Job | Topology | str | Path | Runs
"""What can be run: a query, compiled or as text or as the path of its file, a topology, or a program's stream."""

WAIT_SECONDS = 0.5

F = TypeVar("F", bound=Callable[..., Any])


def _tell_of_options(function: F) -> F:
    """The function, which says what to write instead of an argument that it does not take."""
    signature = inspect.signature(function)

    @wraps(function)
    def call(*args: Any, **named: Any) -> Any:
        unknown = next((name for name in named if name not in signature.parameters), None)
        if unknown is not None:
            problem = f"ouzel.{function.__name__} takes no argument {unknown}"
            raise QueryError(problem, instead=_advise_of_option(function.__name__, unknown, list(signature.parameters)))
        return function(*args, **named)

    return cast(F, call)


def _advise_of_option(called: str, unknown: str, known: list[str]) -> str:
    if unknown in ("params", "parameters", "args"):
        return "a query has no parameters: put the values into its text, with text.format(…)"
    if unknown == "functions":
        return f"they are of the query: write ouzel.{called}(ouzel.query(text, functions=[…]))"
    if unknown in {one.name for one in fields(Settings)}:
        return (
            f"of a query write ouzel.{called}(ouzel.query(text, {unknown}=…)), of a stream stream.{called}({unknown}=…), "
            "of a topology TopologyBuilder(name, ouzel.Settings(…))"
        )
    if unknown == "engine":
        return "what is submitted runs in processes: leave it out, or write ouzel.start(query, engine='memory')"
    return f"it takes {', '.join(known)}"


def query(
    text: str | Path, directory: str | Path = ".", *, functions: Iterable[Row] = (), **settings: Any
) -> session.Job:
    """Compile and plan a query: its text, with paths relative to `directory`, or the path of its file, with paths relative to that.

    A text of one word that ends in .sql is a path.

    Args:
        functions: Python functions that it may call beside those of docs/functions.md, made by `ouzel.function`.
        settings: as in docs/settings.md, with underscores for dots: `parallelism=2`; they win over the query's own SET.

    Raises:
        QueryError: the query is wrong or not supported.
        PlanError: it cannot be packed.
    """
    pairs = [(key, setting_text(key, value)) for key, value in settings.items()]
    try:
        if _is_path(text):
            return session.load(Path(text), pairs, functions)
        return session.load_text(str(text), Path(directory).resolve(), "query", pairs, functions)
    except QueryError as error:
        error.instead = _advise_of_forgotten(error) or error.instead
        raise


def _advise_of_forgotten(error: QueryError) -> str:
    """What to write where a query calls a Python function that its program has, and that it was not given."""
    from ouzel.compiler.functions.elsewhere import FUNCTION
    from ouzel.compiler.functions.known import Row

    kind, called = error.about or ("", "")
    found = named_by_caller(called) if kind == FUNCTION else None
    name = found.name if isinstance(found, Row) else found.__name__ if inspect.isfunction(found) else ""
    if not name:
        return ""
    decorate = (
        "" if isinstance(found, Row) else f"put @ouzel.function((str,), str), with its types, above def {name}, and "
    )
    return f"{decorate}give the query this function of the program: ouzel.query(text, functions=[{name}])"


@_tell_of_options
def start(what: What, engine: str = "heron") -> Handle:
    """Run a query (compiled, its text, or the path of its file) or a topology, and return at once.

    `with ouzel.start(...) as run:` stops it at the end; `for row in run:` gives its rows.

    Raises:
        OuzelError: it could not be started.
    """
    return session.start(_job(what), engine)


@_tell_of_options
def submit(what: What, name: str = "", *, from_: str | Path | None = None, allow_state_loss: bool = False) -> Handle:
    """Run a query or a topology that stays when this program ends: a handle on it, as `attach` gives.

    Args:
        name: by which commands and programs find it; the topology's own by default.
        from_: a savepoint that it goes on from, made by `ouzel stop NAME --savepoint DIR`: a folder, or `s3://bucket/prefix`.
        allow_state_loss: whether operators that mean something else than in the savepoint may begin empty.

    Raises:
        SubmissionError: there is one of that name, or it cannot go on from the savepoint, or state would be lost.
        StateError: the savepoint cannot be used.
        OuzelError: it could not be started.
    """
    job = _job(what)
    if from_ is None:
        from ouzel.submitting import name_for, submit_job

        return submit_job(job, name or name_for(job.topology.name))
    from ouzel.runtime.checkpoints.objects import parse_store_place
    from ouzel.savepoints import plan_start

    planned = plan_start(job, parse_store_place(str(from_)))
    if not allow_state_loss:
        planned.check_losses()
    return planned.submit(name)


def attach(name: str) -> Handle:
    """A handle on what was submitted under that name. A `with` block lets go of it at its end, and it runs on.

    `results` gives all that is kept of its answer, from the beginning.

    Raises:
        SubmissionError: there is none.
    """
    from ouzel.runtime.cluster.submitted.attached import AttachedHandle
    from ouzel.runtime.cluster.submitted.registry import Registry
    from ouzel.runtime.protocol.cluster.submitted import Verb

    registry = Registry()
    record, _ = registry.look_up(Verb.STATUS, name)
    return AttachedHandle(registry, record)


def update(
    name: str,
    what: What | None = None,
    *,
    parallelism: Mapping[str, int] | None = None,
    allow_state_loss: bool = False,
    bootstrap: bool = False,
) -> Handle:
    """Change what was submitted under that name, at an epoch, while it keeps its state: a new handle on it.

    Either another query takes its place, which nobody is asked to approve, or components get other numbers of tasks. A handle from before
    ends with what it has read, for the topology stops and starts again.

    Args:
        name: by which it was submitted.
        what: the new query.
        parallelism: how many tasks components have from now on.
        allow_state_loss: whether operators that mean something else in the new query may begin empty; what they kept is lost.
        bootstrap: whether they are filled from all that the tables have given so far.

    Raises:
        SubmissionError: it does not run, keeps no epochs, cannot have so many tasks, or state would be lost; it is as it was.
        OuzelError: it could not be started so.
    """
    from ouzel.submitting import plan_update, update_parallelism

    if (what is None) == (parallelism is None):
        raise SubmissionError("an update is either of a query or of parallelism; write one of them")
    if what is not None:
        plan_update(_job(what), name, bootstrap=bootstrap).carry_out(allow_state_loss=allow_state_loss)
    else:
        update_parallelism(name, parallelism or {})
    return attach(name)


def _job(what: What) -> session.Job:
    if isinstance(what, session.Job):
        return what
    if isinstance(what, Topology):
        return session.Job("", Path.cwd(), Program(()), what, pack(what))
    if isinstance(what, TopologyBuilder | BoltDeclarer):
        raise QueryError(f"{what!r} is no topology yet", instead="give what builder.build() gives")
    if isinstance(what, Runs):
        return what.job()
    if not isinstance(what, str | Path):
        shown = f"{what!r:.60}" if "\n" not in repr(what) else f"a {type(what).__name__}"
        raise QueryError(
            f"{shown} is nothing that runs",
            instead="give the text of a query, the Path of its file, a stream, or what ouzel.query or TopologyBuilder.build gives",
        )
    return query(what)


def _is_path(text: str | Path) -> bool:
    """Whether it names a file: no SQL is one word that ends in .sql."""
    return isinstance(text, Path) or re.fullmatch(r"\S+\.sql", text.strip()) is not None


@_tell_of_options
def run(what: What, engine: str = "heron") -> Status:
    """Run a query or a topology to its end; results of a trailing SELECT are dropped.

    Raises:
        OuzelError: it could not be started, it failed, or it lost state and its settings do not accept that.
    """
    if isinstance(what, Runs):
        return what.run(engine)
    job = _job(what)
    handle = session.start(job, engine)
    for _ in _frames(handle, job.settings, drains=True):
        pass
    return handle.status()


@_tell_of_options
def table(what: What, engine: str = "heron", *, of: str = "") -> pl.DataFrame:
    """Run to the end: the table that a trailing SELECT's changes add up to, or all rows that a topology's component `of` emits.

    Raises:
        OuzelError: there is no such result, it could not be started, or it failed.
    """
    from ouzel.runtime.operators.result_table import ResultTable

    if isinstance(what, Topology):
        topology = _with_result(what, of)
        result = ResultTable(topology.component(of).outputs[0].schema)
        return _fold(result, start(topology, engine), topology.settings)
    job = _job(what)
    sink = job.program.result
    if sink is None:
        raise QueryError(
            "this query writes into tables and has no result", instead="end it with a SELECT, or use run()"
        )
    warn_of_endless_table(sink)
    handle = session.start(job, engine)
    made = _fold(ResultTable(sink.columns or sink.input.schema, sink.sorted_by), handle, job.settings)
    warn_of_late(handle.status(), job.program, job.settings)
    return made


def _with_result(topology: Topology, of: str) -> Topology:
    """The topology with one more component, which hands what `of` emits on its default stream to whoever started the run."""
    outputs = {component.name: component.outputs for component in topology.components}
    stream = next((output for output in outputs.get(of, ()) if output.stream == DEFAULT_STREAM), None)
    if stream is None:
        emitters = ", ".join(name for name, streams in outputs.items() if streams)
        told = f"no component '{of}' emits a default stream" if of else "a topology has no answer of its own"
        raise PlanError(f"{told}; say whose rows are meant: ouzel.table(topology, of=…) with one of {emitters}")
    rows = Scan(of, "stream", (), stream.schema, traits=UNREAD)
    sink = Sink(rows, RESULT, RESULT, (), SinkMode.APPEND, columns=stream.schema, traits=RETURNED)
    reader = Component(RESULT, 1, (Input(of, Grouping(GroupingKind.GLOBAL)),), (), (sink,))
    return replace(topology, components=(*topology.components, reader))


def _fold(result: ResultTable, handle: Handle, settings: Settings) -> pl.DataFrame:
    for frame in _frames(handle, settings):
        result.apply(frame)
    return result.frame()


def _frames(handle: Handle, settings: Settings, drains: bool = False) -> Iterator[pl.DataFrame]:
    """The frames of a run to its end. One that is interrupted ends at once, or, if it `drains`, when what was read has been written."""
    advice = Advice()
    try:
        ended = False
        while not ended:
            ended = handle.wait_for_results(WAIT_SECONDS)
            yield from handle.results()
            advice.tell(handle.status().events)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(_describe_interrupted(_stop_interrupted(handle, drains))) from None
    except BaseException:
        handle.end()
        raise
    status = handle.stop()
    advice.tell(status.events)
    if status.state is RunState.FAILED:
        raise TopologyError(status.reason)
    lost = describe_lost_state(status, settings)
    if lost:
        raise TopologyError(f"{lost}, so the answer may lack rows; the setting state_lost='accept' takes it as it is")


def _stop_interrupted(handle: Handle, drains: bool) -> Status:
    """End a run after Ctrl-C; at a second one without waiting for what is on its way."""
    if not drains:
        return handle.end()
    try:
        print("stopping: what was read is written first; Ctrl-C again ends at once", file=sys.stderr)
        return handle.stop()
    except KeyboardInterrupt:
        return handle.end()


def _describe_interrupted(status: Status) -> str:
    left = status.rows_in - status.rows_acked
    open_rows = (
        f"; {left:,} of them are not acked yet, and while a bolt neither acks nor fails them no run ends"
        if left > 0
        else ""
    )
    return f"the run was ended by Ctrl-C, with {status.rows_in:,} rows read{open_rows}"
