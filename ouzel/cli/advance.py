"""`ouzel batch --advance`: a store of totals rolled forward."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich.console import Console
from rich.text import Text

from ouzel.cli.failure import Exit
from ouzel.cli.jobs import await_work, stages

if TYPE_CHECKING:
    from ouzel.job import Job
    from ouzel.stores.rolling import Advance

SHOWN = 20
"""How many of the differences are printed."""


def advance_store(
    job: Job,
    path: Path,
    batcher: str | None,
    times: tuple[str | None, str | None],
    master: str | None,
    conf: list[tuple[str, str]],
) -> int:
    """Compute what the store lacks, or what is between the times again; compare it with what the stream has. The exit code.

    Raises:
        OuzelError: it cannot be computed; the store is as it was.
    """
    from ouzel.spark.batch.period import read_period
    from ouzel.stores.batcher import EPOCH, parse_batcher
    from ouzel.stores.folder import FolderStore
    from ouzel.stores.rolling import plan_advance

    period = read_period(*times)
    start, end = (None if at is None else EPOCH + timedelta(microseconds=at) for at in (period.from_us, period.to_us))
    planned = plan_advance(job, FolderStore(path), parse_batcher(batcher) if batcher else None, start, end)
    if not planned.batches:
        after = planned.batcher.earliest_time_of(planned.batches.start.next)
        typer.echo(f"{path} is up to {planned.begin}; its next batch is over at {after}.")
        return 0
    _run(planned, master, conf)
    number = len(planned.batches)
    typer.echo(
        f"{path} holds all up to {planned.store.batcher.earliest_time_of(planned.store.page.batches.end)}: "
        f"{number:,} batch{'es' if number > 1 else ''} from {planned.begin} to {planned.end} computed."
    )
    return _compare(planned)


def _run(planned: Advance, master: str | None, conf: list[tuple[str, str]]) -> None:
    from ouzel.spark.session import start_spark
    from ouzel.stores.rolling import on_spark

    console, said = Console(stderr=True, highlight=False), list[str]()
    with stages(console) as follow:
        spark = start_spark(planned.job.topology.name, master, conf)
        try:
            await_work(lambda: planned.run(on_spark(spark, said.append)), spark, lambda: follow(spark))
        finally:
            spark.stop()
    for line in said:
        console.print(Text(line, style="yellow"), soft_wrap=True)


def _compare(planned: Advance) -> int:
    """Tell where the stream has other sums of these batches."""
    found = planned.disagreements()
    if not found:
        if found is not None:
            typer.echo("The stream's sums of what it has of these batches are the same.")
        return 0
    names, one = [value.name for value in planned.columns.values], "s" if len(found) == 1 else ""
    typer.echo(f"The stream has other sums; {len(found):,} differ{one}:")
    for each in found[:SHOWN]:
        begin = planned.batcher.earliest_time_of(each.batch)
        sides = (_spell(names, side) for side in (each.of_batch, each.of_stream))
        typer.echo("  {} {}: batch {}, stream {}".format(begin, each.key, *sides))
    if len(found) > SHOWN:
        typer.echo(f"  and {len(found) - SHOWN:,} more")
    typer.echo("If the batch is the wrong one, compute it again with --from and --to.")
    return Exit.DIFFERENT


def _spell(names: list[str], values: tuple[object, ...] | None) -> str:
    if values is None:
        return "none"
    return ", ".join(f"{name} {value}" for name, value in zip(names, values, strict=True))
