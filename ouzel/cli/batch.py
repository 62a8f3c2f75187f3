"""`ouzel batch`: the query as a PySpark job, run here or written to a file."""

from __future__ import annotations

import time
from collections.abc import Mapping
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ouzel.cli.choices import Debug, ResultFormat, Set, pairs
from ouzel.cli.failure import report_errors
from ouzel.cli.query import Execute, QueryArgument, QuerySource, read_query
from ouzel.errors import QueryError
from ouzel.interrupts import interruptible

if TYPE_CHECKING:
    import polars as pl

    from ouzel.spark.batch.run import BatchRun


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
AdvanceOption = Annotated[
    Path | None,
    typer.Option(
        metavar="STORE",
        help="Compute the batches that are over since the store's last version, and add them to it; --from an earlier time, those again.",
    ),
]
BatcherOption = Annotated[
    str | None,
    typer.Option(
        metavar="TEXT", help="With --advance of a new store, how time is cut: '6 hours', 'day Europe/Vienna', 'month'."
    ),
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
    advance: AdvanceOption = None,
    batcher: BatcherOption = None,
    conf: JobConf = [],  # noqa: B006
    settings: Set = [],  # noqa: B006
    debug: Debug = False,
) -> None:
    """Run a query as a PySpark job over all its input, or write that job.

    It answers as `ouzel run` does once the input has ended and no row is late. INSERT INTO writes: files, topics, what there is.
    """  # fmt: skip
    with report_errors(debug):
        if advance is not None:
            given = {"--emit": emit, "--offsets": offsets, "--output": output, "--output-format": output_format}
            _refuse_beside("--advance", given)
            from ouzel.cli.advance import advance_store

            job = read_query(file, execute).load(pairs(settings, "--set"))
            with interruptible():
                raise typer.Exit(advance_store(job, advance, batcher, (begin, end), master, pairs(conf, "--conf")))
        _refuse_alone("--batcher", batcher)
        made = _load(read_query(file, execute), pairs(settings, "--set"), offsets, (begin, end))
        from ouzel.cli.listing import print_before

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
        with interruptible():
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


def _refuse_beside(option: str, given: Mapping[str, object]) -> None:
    wrong = next((name for name, value in given.items() if value is not None), None)
    if wrong:
        raise QueryError(f"{wrong} and {option} exclude each other", instead=f"leave out {wrong}")


def _refuse_alone(option: str, value: object) -> None:
    if value is not None:
        raise QueryError(f"{option} says how a store cuts time", instead="add --advance STORE")


def _emit(text: str, path: Path) -> None:
    if str(path) == "-":
        typer.echo(text, nl=False)
        return
    path.write_text(text, encoding="utf-8")
    typer.echo(f"{path} is the job; run it with: spark-submit {path}", err=True)


def _run(made: BatchRun, master: str | None, conf: list[tuple[str, str]], output: str | None, form: Shape) -> None:
    from rich.console import Console
    from rich.text import Text

    from ouzel.cli.jobs import await_work, stages
    from ouzel.spark.session import start_spark

    console = Console(stderr=True, highlight=False)
    started, said = time.monotonic(), list[str]()
    with stages(console) as follow:
        spark = start_spark(made.job.topology.name, master, conf)
        try:
            if spark.sparkContext.uiWebUrl:
                console.print(Text(f"Spark's pages: {spark.sparkContext.uiWebUrl}", style="dim"))
            frame = await_work(lambda: made.run(spark, said.append), spark, lambda: follow(spark))
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
        zone=made.job.settings.time_zone,
    )
    rows.add(frame)
    rows.finish()
