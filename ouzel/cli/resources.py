"""`ouzel explain --resources`: what a query would need for a rate, from a sample of it, or from how it runs; and how wrong that was."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ouzel.cli.columns import print_columns
from ouzel.cli.submitted import is_submitted
from ouzel.errors import OuzelError
from ouzel.spans import parse_span

if TYPE_CHECKING:
    from ouzel.session import Job
    from ouzel.tracker.health.estimates import EstimateError, MeasuredPart, ResourceEstimate, WhyFixed

SPAN_S = 180
"""Of a submitted topology, what it did in so long a time is measured."""


def seconds_of(text: str) -> float:
    """Seconds of a span of time such as 10s or 2 min.

    Raises:
        typer.BadParameter: it is none.
    """
    span_us = parse_span(text)
    if span_us is None:
        raise typer.BadParameter(f"'{text}' is no span of time; write 10s, or ms, min, h")
    return span_us / 1e6


SampleOption = Annotated[
    str,
    typer.Option(
        "--sample", metavar="TIME", help="With --resources: how long a sample of the query runs at most, 10s say."
    ),
]
RateOption = Annotated[
    float | None,
    typer.Option(
        "--rate",
        min=0.001,
        metavar="ROWS",
        help="With --resources: rows a second, over all sources.  [default: as many as were read]",
        show_default=False,
    ),
]
LagGoal = Annotated[
    str,
    typer.Option(
        "--lag-goal",
        metavar="TIME",
        help="With --resources: in which what gathers in 30 s without reading is to be read.",
        show_default=False,
    ),
]
Against = Annotated[
    Path | None,
    typer.Option(
        "--against",
        metavar="FILE",
        dir_okay=False,
        exists=True,
        help="With --resources: an estimate that --json has printed; how wrong it was.",
        show_default=False,
    ),
]


@dataclass(frozen=True)
class ResourceOptions:
    """What the options of `--resources` say."""

    sample: str = ""
    rate: float | None = None
    lag_goal: str = ""
    against: Path | None = None

    def refuse_without_resources(self) -> None:
        """See that none is given alone.

        Raises:
            typer.BadParameter: one is.
        """
        given = {"--sample": self.sample, "--rate": self.rate, "--lag-goal": self.lag_goal, "--against": self.against}
        for name, value in given.items():
            if value:
                raise typer.BadParameter("it is for --resources; write that, too", param_hint=name)


def explain_resources(file: Path | None, load: Callable[[], Job], options: ResourceOptions, *, as_json: bool) -> None:
    """Print what a query, or a submitted topology, would need.

    Raises:
        OuzelError: it cannot be sampled, or nothing is known of it.
    """
    from ouzel.tracker.health.estimates import compare_estimate, estimate_resources, read_estimate, write_estimate

    sample_s, goal_s = seconds_of(options.sample or "10s"), seconds_of(options.lag_goal) if options.lag_goal else None
    former = None
    if options.against is not None:
        if as_json:
            raise typer.BadParameter("--json prints the estimate alone; leave one of them out", param_hint="--against")
        try:
            former = read_estimate(options.against.read_text())
        except (OSError, ValueError) as error:
            raise OuzelError(
                f"{options.against} cannot be read: {error}; write what --resources --json has printed"
            ) from error
    why: WhyFixed = lambda name, tasks: ""  # noqa: E731
    if file is not None and is_submitted(file):
        if options.sample:
            raise typer.BadParameter(
                f"'{file}' runs already, and is measured as it runs; leave it out", param_hint="--sample"
            )
        measured = _measure_submitted(str(file))
    else:
        job = load()
        measured, why = _measure_sample(job, sample_s), _why_fixed_in(job)
    estimate = estimate_resources(measured, options.rate, goal_s, why)
    if as_json:
        typer.echo(write_estimate(estimate))
        return
    _print_estimate(estimate)
    if former is not None:
        _print_errors(compare_estimate(former, measured))


def _why_fixed_in(job: Job) -> WhyFixed:
    from ouzel.planner.rescaling import why_fixed

    def why(name: str, tasks: int) -> str:
        part = job.topology.component(name)
        return "" if part.is_spout else why_fixed(part, tasks)

    return why


def _measure_sample(job: Job, sample_s: float) -> list[MeasuredPart]:
    from ouzel import session
    from ouzel.runtime.cluster.client import HeronHandle
    from ouzel.runtime.warm import prepare
    from ouzel.tracker.health.measuring import check_can_be_sampled, run_sample, without_traces

    check_can_be_sampled(job.topology)
    prepare()
    with tempfile.TemporaryDirectory(prefix="ouzel-sample-") as folder:
        settings = without_traces(job.settings, Path(folder))
        handle = session.start(replace(job, topology=replace(job.topology, settings=settings)))
        assert isinstance(handle, HeronHandle)
        return run_sample(handle, sample_s)


def _measure_submitted(name: str) -> list[MeasuredPart]:
    from ouzel.runtime.cluster.submitted.registry import Registry
    from ouzel.runtime.protocol.cluster.submitted import Verb
    from ouzel.tracker.health.measuring import measure, read_memory_of_tasks
    from ouzel.tracker.metrics.history import RunHistory
    from ouzel.tracker.topologies.snapshot import take_snapshot

    registry = Registry()
    record, _ = registry.look_up(Verb.STATUS, name)
    snapshot = take_snapshot(registry, record, None)
    if not snapshot.is_alive:
        raise OuzelError(
            f"topology '{name}' does not run, so nothing of it can be measured; bring it back with `ouzel start {name}`"
        )
    now_s = int(time.time())
    history = RunHistory(snapshot.home, [one.id for one in snapshot.job.packing.containers]).read(now_s)
    memory: dict[int, int] = {}
    for container, processes in snapshot.processes.items():
        memory |= read_memory_of_tasks(
            {process: entry.pid for process, entry in processes.items() if snapshot.is_running(container, process)}
        )
    since_s = max(now_s - SPAN_S, record.since_us // 1_000_000)
    return measure(snapshot.job.topology, history, memory, since_s)


def _print_estimate(estimate: ResourceEstimate) -> None:
    from ouzel.tracker import words

    told = f"read in the sample: {words.rate_text(estimate.read_s)} rows/s; estimated for {words.rate_text(estimate.rate_s)} rows/s"
    typer.echo(told + (f", with {estimate.headroom:.2g} times that to catch up" if estimate.headroom > 1 else ""))
    print_columns(
        ("COMPONENT", "TASKS", "ROWS/S", "CORES", "MEMORY A TASK", ""),
        [
            (
                one.name,
                str(one.tasks) if one.tasks == one.had else f"{one.tasks} (had {one.had})",
                words.rate_text(one.rows_s),
                f"{one.cores:.2f}",
                words.NOTHING if one.memory_mb is None else f"{one.memory_mb:,} MiB",
                one.note,
            )
            for one in estimate.parts
        ],
    )


def _print_errors(errors: Sequence[EstimateError]) -> None:
    """How wrong the former estimate was."""
    typer.echo("\nthe former estimate, at the rate of now:")
    print_columns(
        ("COMPONENT", "ROWS/S SAID", "ROWS/S", "CORES SAID", "CORES", "OFF BY"),
        [
            (
                one.name,
                f"{one.rows_s[0]:,.0f}",
                f"{one.rows_s[1]:,.0f}",
                f"{one.cores[0]:.2f}",
                f"{one.cores[1]:.2f}",
                "–" if one.off is None else f"{100 * one.off:+.0f} %",
            )
            for one in errors
        ],
    )
