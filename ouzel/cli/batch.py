"""`ouzel batch`: the query as a PySpark job, run here or written to a file."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from ouzel.cli.choices import Debug, ResultFormat, Set, pairs
from ouzel.cli.failure import report_errors
from ouzel.cli.listing import print_before
from ouzel.cli.query import Execute, QueryArgument, QuerySource, read_query
from ouzel.errors import QueryError

if TYPE_CHECKING:
    import polars as pl
    from pyspark.sql import SparkSession
    from rich.progress import TaskID

    from ouzel.spark.batch.run import BatchRun

POLL_S = 0.1


class OutputKind(Enum):
    """What `--output` is written as."""

    PARQUET = "parquet"
    CSV = "csv"
    JSON = "json"


class Shape(Enum):
    """How a batch's answer is printed; it has no changes."""

    TABLE = "table"
    VERTICAL = "vertical"
    JSONL = "jsonl"
    CSV = "csv"


EmitOption = Annotated[
    Path | None,
    typer.Option(metavar="JOB.py", help="Write the job as a PySpark program instead of running it; - is stdout."),
]
JobMaster = Annotated[
    str | None, typer.Option(metavar="URL", help="Where Spark runs.  [default: this machine, local[*]]")
]
From = Annotated[
    str | None,
    typer.Option(
        "--from",
        metavar="TIME",
        help="Read only what happened at that time or later: 2024-01-31T12:00:00, in UTC. No window is cut.",
    ),
]
To = Annotated[str | None, typer.Option("--to", metavar="TIME", help="Read only what happened before that time.")]
OffsetsOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        exists=True,
        dir_okay=False,
        help="Read exactly these rows: JSON of table, partition, [first offset, end], or the record of a run.",
    ),
]
OutputOption = Annotated[
    str | None,
    typer.Option(
        metavar="PATH",
        help="Write the trailing SELECT's rows to a folder of this name, or to a URI that Spark knows (s3a://...).",
    ),
]
OutputFormat = Annotated[
    OutputKind | None, typer.Option(help="The format of --output.  [default: by its name's end, else parquet]")
]
JobConf = Annotated[
    list[str], typer.Option("--conf", metavar="KEY=VALUE", help="A setting of Spark, spark.executor.memory=4g say.")
]


def batch(
    file: QueryArgument = None,
    execute: Execute = [],  # noqa: B006
    emit: EmitOption = None,
    master: JobMaster = None,
    begin: From = None,
    end: To = None,
    offsets: OffsetsOption = None,
    output: OutputOption = None,
    output_format: OutputFormat = None,
    form: Annotated[Shape, typer.Option("--format", help="How the trailing SELECT's rows are printed.")] = Shape.TABLE,
    conf: JobConf = [],  # noqa: B006
    settings: Set = [],  # noqa: B006
    debug: Debug = False,
) -> None:
    """Run a query as a PySpark job over all its input, or write that job.

    It answers as `ouzel run` does once the input has ended and no row is late. INSERT INTO writes: files, topics, what there is.
    """  # fmt: skip
    with report_errors(debug):
        made = _load(read_query(file, execute), pairs(settings, "--set"), offsets, (begin, end))
        if emit is None and print_before(made.job.program, ResultFormat(form.value)):
            return
        if output_format and output is None:
            raise QueryError(
                "--output-format says how --output is written", instead="add --output PATH, or leave it out"
            )
        made = made if output is None else made.into(output, output_format.value if output_format else "")
        text = made.text()  # what has no Spark form is refused before Spark starts
        if made.note:
            typer.echo(f"{made.note}.", err=True)
        if emit is not None:
            _emit(text, emit)
            return
        _run(made, master, pairs(conf, "--conf"), output, form)


def _load(
    query: QuerySource, settings: list[tuple[str, str]], offsets: Path | None, times: tuple[str | None, str | None]
) -> BatchRun:
    from ouzel.spark.batch.offsets import read_offsets
    from ouzel.spark.batch.period import read_period
    from ouzel.spark.batch.run import batch_run

    period = read_period(*times)
    if offsets and period:
        raise QueryError("--offsets says already which rows are read", instead="leave out --from and --to")
    return batch_run(query.load(settings, may_only_tell=True), read_offsets(offsets) if offsets else None, period)


def _emit(text: str, path: Path) -> None:
    if str(path) == "-":
        typer.echo(text, nl=False)
        return
    path.write_text(text, encoding="utf-8")
    typer.echo(f"{path} is the job; run it with: spark-submit {path}", err=True)


def _run(made: BatchRun, master: str | None, conf: list[tuple[str, str]], output: str | None, form: Shape) -> None:
    from ouzel.spark.session import start_spark

    console = Console(stderr=True, highlight=False)
    started, said = time.monotonic(), list[str]()
    with _stages(console) as follow:
        spark = start_spark(made.job.topology.name, master, conf)
        try:
            if spark.sparkContext.uiWebUrl:
                console.print(Text(f"Spark's pages: {spark.sparkContext.uiWebUrl}", style="dim"))
            frame = _await_work(lambda: made.run(spark, said.append), spark, lambda: follow(spark))
        finally:
            spark.stop()
    if frame is not None:
        _print(frame, made, form)
    for line in said:
        console.print(Text(line, style="yellow"), soft_wrap=True)
    console.print(Text(f"batch: {_tell(frame, output)} in {time.monotonic() - started:.1f} s", style="dim"))


def _tell(frame: pl.DataFrame | None, output: str | None) -> str:
    if frame is not None:
        return "1 row" if frame.height == 1 else f"{frame.height:,} rows"
    return f"written to {output}" if output else "written"


def _print(frame: pl.DataFrame, made: BatchRun, form: Shape) -> None:
    from ouzel.cli.answer import answer

    sink = made.result
    assert sink is not None
    sorts = form in (
        Shape.JSONL,
        Shape.CSV,
    )  # a table for people is in the order in which `ouzel run` shows it, lines are in that of their columns
    rows = answer(
        ResultFormat(form.value),
        sink.columns or sink.input.schema,
        sorts or sink.input.retracts,
        sorted_by=sink.sorted_by,
    )
    rows.add(frame)
    rows.finish()


def _await_work(work: Callable[[], Any], spark: SparkSession, follow: Callable[[], None]) -> Any:
    """The result of `work`; `follow` is called while it runs, and Ctrl-C cancels Spark's jobs."""
    outcome: dict[str, Any] = {}

    def run() -> None:
        try:
            outcome["value"] = work()
        except BaseException as error:
            outcome["error"] = error

    thread = threading.Thread(target=run, name="batch", daemon=True)
    thread.start()
    try:
        while thread.is_alive():
            follow()
            thread.join(POLL_S)
    except KeyboardInterrupt:
        spark.sparkContext.cancelAllJobs()
        thread.join(10)
        raise
    if "error" in outcome:
        raise outcome["error"]
    return outcome["value"]


@contextmanager
def _stages(console: Console) -> Iterator[Callable[[SparkSession], None]]:
    """A function that draws a bar for each running stage each time it is called; nothing where there is no terminal."""
    if not console.is_terminal:
        yield lambda spark: None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn

    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("tasks"),
    )
    with Progress(*columns, console=console, transient=True) as progress:
        starting = progress.add_task("Spark starts", total=None)
        bars: dict[int, TaskID] = {}

        def follow(spark: SparkSession) -> None:
            progress.update(starting, visible=False)
            tracker = spark.sparkContext.statusTracker()
            active = set(tracker.getActiveStageIds())
            for stage in sorted(active | bars.keys()):
                told = tracker.getStageInfo(stage)
                if told is not None:
                    if stage not in bars:
                        bars[stage] = progress.add_task(f"stage {stage}", total=told.numTasks)
                    progress.update(bars[stage], completed=told.numCompletedTasks, visible=stage in active)

        yield follow
