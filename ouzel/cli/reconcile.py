"""`ouzel reconcile`: where the topology's answer and the batch job's differ, and why; once, or again and again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ouzel.cli.choices import Debug, Engine, Master, Set, pairs
from ouzel.cli.failure import report_errors
from ouzel.cli.query import Execute, QueryArgument, read_query
from ouzel.interrupts import interruptible
from ouzel.spans import parse_span

Record = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        exists=True,
        file_okay=False,
        help="A run of `ouzel run --record DIR`, over or going on; none is started now.",
    ),
]
TableOption = Annotated[str, typer.Option(metavar="NAME", help="Which table, if the query writes several.")]
Between = Annotated[
    tuple[str, str] | None,
    typer.Option(
        metavar="FROM TO",
        help="Compare the windows that lie wholly between two times, or rows without windows from FROM to just before TO. "
        "ISO 8601, such as 2013-01-31 or 2013-01-31T12:30, in UTC; - is no limit.",
    ),
]
ClosedOption = Annotated[
    bool | None,
    typer.Option(
        "--closed-windows/--all-windows",
        help="Only windows that the watermark has closed: of a run that goes on they are compared without a pause.  [default: all]",
    ),
]
Tolerance = Annotated[
    float | None,
    typer.Option(min=0.0, help="How far apart, relative to the larger, equal floats may be.  [default: 1e-9]"),
]
Report = Annotated[
    Path | None, typer.Option(metavar="DIR", file_okay=False, help="Write index.html and differences.parquet there.")
]
Every = Annotated[
    str | None,
    typer.Option(
        "--watch", metavar="INTERVAL", help="Compare the run again and again, every 30s or 5m say, until it ends."
    ),
]
Scraped = Annotated[
    str | None,
    typer.Option(
        metavar="[HOST:]PORT",
        help="Serve what --watch finds to Prometheus; on this machine's loopback if no host is named.",
    ),
]


def reconcile(
    file: QueryArgument = None,
    execute: Execute = [],  # noqa: B006
    engine: Annotated[Engine, typer.Option(help="What runs the topology, if it is to run now.")] = Engine.HERON,
    record: Record = None,
    table: TableOption = "",
    between: Between = None,
    closed_windows: ClosedOption = None,
    tolerance: Tolerance = None,
    report: Report = None,
    watch: Every = None,
    metrics: Scraped = None,
    master: Master = None,
    settings: Set = [],  # noqa: B006
    debug: Debug = False,
) -> None:
    """Run a query as a topology and as a Spark job over the same input, and say where the answers differ, and why.

    RECONCILE statements of the file say what to compare; options win over them. The exit code is 0 if nothing differs or each difference
    is explained, and 3 otherwise.
    """
    with report_errors(debug):
        every, served = _interval(watch, record), _address(metrics, watch)
        span = (_instant(between[0]), _instant(between[1])) if between else None
        query = read_query(file, execute)
        if record is None and engine is Engine.HERON:
            from ouzel.runtime.warm import prepare

            prepare()
        from ouzel.cli.comparing import Request, reconcile_file

        request = Request(
            query, engine, record, table, span, closed_windows, tolerance, report, master, tuple(pairs(settings, "--set"))
        )  # fmt: skip
        with interruptible():
            if every is None:
                raise typer.Exit(reconcile_file(request))
            from ouzel.cli.watch import watch_file

            raise typer.Exit(watch_file(request, every, served))


def _instant(text: str) -> int | None:
    from ouzel.compiler.sql.expressions.literals import instant_us
    from ouzel.errors import QueryError

    try:
        return None if text == "-" else instant_us(text)
    except QueryError as error:
        raise typer.BadParameter(str(error), param_hint="--between") from None


def _interval(text: str | None, record: Path | None) -> float | None:
    """Seconds between two looks."""
    if text is None:
        return None
    span_us = parse_span(text) or parse_span(f"{text}s")
    if span_us is None:
        raise typer.BadParameter(f"'{text}' is no interval; write 30s, 5m or 1h", param_hint="--watch")
    if record is None:
        raise typer.BadParameter(
            "only a run that goes on can be watched; name its directory with --record", param_hint="--watch"
        )
    return span_us / 1e6


def _address(text: str | None, watch: str | None) -> tuple[str, int] | None:
    """Host, empty for the loopback, and port."""
    if text is None:
        return None
    host, _, port = text.rpartition(":")
    if not port.isdecimal() or int(port) > 65_535:
        raise typer.BadParameter(f"'{text}' is no port; write 9400 or 0.0.0.0:9400", param_hint="--metrics")
    if watch is None:
        raise typer.BadParameter("there are metrics only of a watch; add --watch 30s", param_hint="--metrics")
    return host, int(port)
