"""Commands on metrics: files for Grafana and Prometheus, and sending to Graphite and by OpenTelemetry's protocol, traces too."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Protocol

import typer

from ouzel.cli.choices import Debug
from ouzel.cli.failure import Exit, describe_missing, report_errors, say_error
from ouzel.cli.rounds import repeat
from ouzel.errors import OuzelError

if TYPE_CHECKING:
    from ouzel.tracker.metrics.new_samples import Containers

LookEvery = Annotated[float, typer.Option(min=0.1, metavar="SECONDS", help="How often it is looked for new samples.")]
ReceiverUrl = Annotated[
    str,
    typer.Argument(
        metavar="URL",
        help="Where an OpenTelemetry collector takes OTLP over HTTP: http://HOST:4318.",
        show_default=False,
    ),
]
SendOnce = Annotated[bool, typer.Option("--once", help="Send what there is, and end.")]

metrics = typer.Typer(name="metrics", help="Take the metrics of submitted topologies elsewhere.", no_args_is_help=True)


@metrics.command("dashboards")
def _dashboards(
    folder: Annotated[Path, typer.Argument(metavar="DIR", file_okay=False, help="Where the files go.")],
    debug: Debug = False,
) -> None:
    """Write a dashboard for Grafana, and rules of alerts for Prometheus.

    They go with what `ouzel ui` gives under /metrics.
    """
    with report_errors(debug):
        try:
            from ouzel.tracker.metrics.monitoring import write_monitoring
        except ModuleNotFoundError as error:
            raise OuzelError(describe_missing("this needs", error, "ui")) from None
        for path in write_monitoring(folder):
            typer.echo(path)


@metrics.command("graphite")
def _graphite(
    address: Annotated[
        str, typer.Argument(metavar="HOST[:PORT]", help="Where Graphite takes lines; port 2003 if none is said.")
    ],
    prefix: Annotated[str, typer.Option(metavar="PATH", help="Begins the path of each metric.")] = "ouzel",
    every: LookEvery = 10.0,
    once: SendOnce = False,
    debug: Debug = False,
) -> None:
    """Send the metrics of all submitted topologies to Graphite, until Ctrl-C.

    It begins with what is kept of the last hours, and waits for a Graphite that is away.
    """
    with report_errors(debug):
        from ouzel.runtime.cluster.submitted.registry import Registry
        from ouzel.tracker.metrics.graphite import GraphiteSender
        from ouzel.tracker.metrics.new_samples import find_containers

        _send_all(
            GraphiteSender(partial(find_containers, Registry()), _host_and_port(address), prefix),
            "Graphite",
            every,
            once,
        )


@metrics.command("otlp")
def _otlp(
    url: ReceiverUrl,
    every: LookEvery = 10.0,
    once: SendOnce = False,
    debug: Debug = False,
) -> None:
    """Send the metrics of all submitted topologies by OpenTelemetry's protocol, until Ctrl-C.

    It begins with what is kept of the last hours, and waits for a receiver that is away.
    Headers, certificates and compression are those of OpenTelemetry's variables, as OTEL_EXPORTER_OTLP_HEADERS.
    """
    with report_errors(debug):
        with _needs_otel():
            from ouzel.tracker.metrics.otlp import OtlpSender, metrics_url
        _send_otlp(OtlpSender, metrics_url, url, every, once)


@metrics.command("traces")
def _traces(url: ReceiverUrl, every: LookEvery = 10.0, once: SendOnce = False, debug: Debug = False) -> None:
    """Send the traces of all submitted topologies by OpenTelemetry's protocol, until Ctrl-C.

    Those are traced that were submitted with SET 'trace.sample' = '0.001', say: so many of the batches of their sources.
    Headers, certificates and compression are those of OpenTelemetry's variables, as OTEL_EXPORTER_OTLP_HEADERS.
    """
    with report_errors(debug):
        with _needs_otel():
            from ouzel.tracker.metrics.otlp_traces import OtlpTraceSender, traces_url
        _send_otlp(OtlpTraceSender, traces_url, url, every, once)


class MetricsSender(Protocol):
    """What takes metrics, or traces, elsewhere."""

    def send(self) -> int:
        """Send what has come, and what waits; raises OSError if it cannot."""

    def close(self) -> None:
        """Close the connection."""


@contextmanager
def _needs_otel() -> Iterator[None]:
    """Inside, what is imported needs OpenTelemetry's packages: where they are not there, it says how they are installed."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise OuzelError(describe_missing("this needs", error, "otel")) from None


def _send_otlp(
    make: Callable[[Containers, str], MetricsSender], place: Callable[[str], str], url: str, every: float, once: bool
) -> None:
    """Send what all submitted topologies tell to the receiver at `url`, or below it, where `place` says."""
    from ouzel.runtime.cluster.submitted.registry import Registry
    from ouzel.tracker.metrics.new_samples import find_containers

    try:
        address = place(url)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="URL") from None
    _send_all(make(partial(find_containers, Registry()), address), "the receiver", every, once)


def _send_all(sender: MetricsSender, receiver: str, every: float, once: bool) -> None:
    """Send what comes until Ctrl-C, or what there is."""
    problem = ""

    def look() -> None:
        nonlocal problem
        problem = _send(sender, receiver)

    try:
        repeat(look, every, once)
        raise typer.Exit(Exit.FAILED if problem else Exit.ANSWERED)
    finally:
        sender.close()


def _send(sender: MetricsSender, receiver: str) -> str:
    """Send the metrics once. Returns why that failed, or an empty text."""
    try:
        sender.send()
    except OSError as error:
        problem = f"{receiver} cannot be reached: {error.strerror or error}; what was to be sent waits"
        say_error(problem)
        return problem
    return ""


def _host_and_port(address: str) -> tuple[str, int]:
    """A host and a port, 2003 if none is said; an IPv6 address stands in brackets."""
    from urllib.parse import urlsplit

    from ouzel.tracker.metrics.graphite import PORT

    try:
        parts = urlsplit(f"//{address}")
        host, port = parts.hostname, parts.port or PORT
    except ValueError:
        host, port = None, 0
    if not host:
        raise typer.BadParameter(f"'{address}' is no address; write HOST:PORT", param_hint="HOST[:PORT]")
    return host, port
