"""What runs a stream: as a topology, as a PySpark job, in plain Python; and what shows it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from ouzel.callers import is_awaited
from ouzel.compiler.records import RecordType
from ouzel.dsl.advice import check_verbs
from ouzel.dsl.options import StepOptions
from ouzel.dsl.producers import Producer, entire_graph
from ouzel.dsl.suspects import warn_of_suspects
from ouzel.dsl.variables import warn_of_later_values
from ouzel.errors import QueryError

if TYPE_CHECKING:
    import polars as pl

    from ouzel.dsl.both import BothAnswers
    from ouzel.dsl.live import LiveFrames
    from ouzel.dsl.plotting import Plot
    from ouzel.job import Job
    from ouzel.runtime.run import Handle, Status

T_co = TypeVar("T_co", covariant=True)


@check_verbs
class Runnable(Generic[T_co]):
    """A producer's records, as what runs: nothing does before one of these methods is called."""

    def __init__(self, producer: Producer) -> None:
        if not isinstance(producer, Producer):
            raise QueryError(
                f"a stream is not made of {producer!r:.60}", instead="write Source.of([…]), or Source.file(…)"
            )
        self.producer = producer

    @property
    def record(self) -> RecordType:
        """What a record is, and its columns."""
        return self.producer.record

    def job(self, *, options: Mapping[str, StepOptions] | None = None, answers: bool = True, **settings: Any) -> Job:
        """The compiled topology, for `ouzel.start`, `ouzel.run`, `ouzel.table` and `ouzel.explain`.

        Args:
            options: of steps, by their names.
            answers: whether the records of this stream are handed to whoever starts it, beside what is written.
            settings: as in docs/settings.md, with underscores for dots.

        Raises:
            QueryError: a function cannot be sent, or a sink cannot take what the stream gives.
        """
        from ouzel.dsl.plan import plan_job

        warn_of_later_values(entire_graph(self.producer))
        warn_of_suspects(self.producer)
        return plan_job(self.producer, options or {}, answers, settings)

    def run(
        self, engine: str = "heron", *, options: Mapping[str, StepOptions] | None = None, **settings: Any
    ) -> Status:
        """Run the topology until its sources end, and drop what is not written.

        Raises:
            QueryError: nothing is written.
            OuzelError: it could not be started, or it failed.
        """
        from ouzel import entry
        from ouzel.dsl.producers import is_tail

        _check_not_awaited("run")
        if not is_tail(self.producer):
            raise QueryError(
                "this stream writes nothing", instead="end it with write(sink), or call table() for its records"
            )
        return entry.run(self.job(options=options, answers=False, **settings), engine)

    def start(
        self, engine: str = "heron", *, options: Mapping[str, StepOptions] | None = None, **settings: Any
    ) -> Handle:
        """Run the topology and return at once; `with stream.start() as run: for row in run: ...` sees its changes.

        Raises:
            OuzelError: it could not be started.
        """
        from ouzel import entry

        return entry.start(self.job(options=options, **settings), engine)

    def table(
        self, engine: str = "heron", *, options: Mapping[str, StepOptions] | None = None, **settings: Any
    ) -> pl.DataFrame:
        """Run the topology until its sources end: the records that its changes add up to.

        Raises:
            OuzelError: it could not be started, or it failed.
        """
        from ouzel import entry

        _check_not_awaited("table")
        return entry.table(self.job(options=options, **settings), engine)

    def changes(self, engine: str = "heron", form: str = "polars", **settings: Any) -> LiveFrames:
        """Run the topology, and give its changes as frames while they come, with `$weight` -1 for what is taken back.

        `for frame in stream.changes()` and `async for` stop it at their end, and at an error or Ctrl-C.

        Args:
            engine: heron, memory or spark.
            form: polars, pandas or arrow.
            settings: as in docs/settings.md, with underscores for dots.
        """
        from ouzel.dsl.live import LiveFrames

        return LiveFrames(self.job(**settings), engine, form, whole=False)

    def tables(self, engine: str = "heron", form: str = "polars", **settings: Any) -> LiveFrames:
        """As `changes`, but each time the whole table that the changes add up to by then; `await stream.tables()` gives the last."""
        from ouzel.dsl.live import LiveFrames

        return LiveFrames(self.job(**settings), engine, form, whole=True)

    def run_both(
        self,
        online: str = "heron",
        *,
        table: str = "",
        record: str | Path | None = None,
        options: Mapping[str, StepOptions] | None = None,
        **settings: Any,
    ) -> BothAnswers:
        """Run the topology until its sources end, then the PySpark job over what it has read, and compare: both answers, and the verdict.

        Args:
            online: the engine of the topology.
            table: which of the tables that it writes is compared; the records of this stream without it.
            record: a directory that keeps what the topology has read and answered, for `ouzel reconcile`.
            options: of steps, by their names.
            settings: as in docs/settings.md, with underscores for dots.

        Raises:
            OuzelError: a platform cannot run it, or it failed.
        """
        from ouzel.dsl.both import answer_twice

        return answer_twice(self.job(options=options, **settings), online, table, record)

    def batch(self, **settings: Any) -> pl.DataFrame:
        """The same by a PySpark job.

        Raises:
            OuzelError: it has no Spark form, or it failed.
        """
        from ouzel.dsl.batch import batch_table

        return batch_table(self.job(**settings))

    def spark_job(self, title: str = "This stream") -> str:
        """The text of the PySpark job.

        Raises:
            NotSupported: it has no Spark form.
        """
        from ouzel.dsl.batch import job_text

        return job_text(self.job(), title)

    def memory(self, **inputs: Iterable[Any]) -> list[T_co]:
        """The same in plain Python, dictionaries and lists, without any engine: what the program means, for tests.

        Args:
            inputs: records of its sources, by their names, in place of those that they read.
        """
        from ouzel.dsl.memory import Memory

        _check_not_awaited("memory")
        warn_of_later_values(entire_graph(self.producer))
        return Memory(inputs).records(self.producer)

    def explain(self, **settings: Any) -> str:
        """The plan, the topology and its packing, as text."""
        from ouzel.explain import explain

        job = self.job(**settings)
        return explain(job.program, job.topology, job.packing)

    def show(self, n: int = 20, engine: str = "memory") -> None:
        """Print the first `n` records, or what there is of them when the source has ended or the program is interrupted."""
        from ouzel.dsl.showing import first_records

        _check_not_awaited("show")
        if type(n) is not int or n < 1:
            raise QueryError(f"show takes how many records, and {n!r:.60} is no such number", instead="write show(10)")
        print(first_records(self.job(), engine, n))

    def plot(self, engine: str = "heron", **settings: Any) -> Plot | None:
        """Run it, and draw its table over time: a line for each key, as `sum_by_window` gives them. A notebook sees it grow.

        Elsewhere it gives the last picture, whose `svg` is its text. Needs `pip install "ouzel[plot]"`.

        Raises:
            QueryError: its records have no time or no number.
            OuzelError: it could not be started, or it failed.
        """
        from ouzel.dsl.plotting import axes, plot_live

        axes(self.record.schema)
        return plot_live(self.tables(engine, **settings), self.record.schema)

    def __repr__(self) -> str:
        return f"Stream[{self.record}]"

    def _repr_html_(self) -> str:
        from html import escape

        return f"<pre>{escape(self.explain())}</pre>"


def _check_not_awaited(verb: str) -> None:
    if is_awaited():
        raise QueryError(
            f"{verb}() is over when it returns, and gives nothing to await",
            instead=f"write await asyncio.to_thread(stream.{verb})",
        )
