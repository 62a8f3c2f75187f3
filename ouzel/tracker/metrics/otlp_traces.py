"""Sends the traces of all submitted topologies to a receiver of OpenTelemetry's protocol (OTLP over HTTP), by its own library.

It reads the files of spans that tasks write, as `otlp.py` does those of metrics. A trace is a batch of a source: its id is a hash of the
run, the task that holds the batch, and the number of the batch there, so whoever sends a span of it names it alike.
"""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Iterable
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExportResult
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import Link, SpanContext, SpanKind, TraceFlags

from ouzel.runtime.observe.trace_files import TaskSpan, TraceReader
from ouzel.tracker.metrics.new_samples import Containers, send_waiting
from ouzel.tracker.metrics.otlp import AT_ONCE, TIMEOUT_S, LastWords, place_below

SPANS_KEPT = 20_000
"""The most spans that wait while the receiver cannot be reached; the oldest are dropped first."""

_SCOPE = InstrumentationScope("ouzel")


def traces_url(url: str) -> str:
    """Where traces go, below an address or at it if it has a path.

    Raises:
        ValueError: it is no address of HTTP.
    """
    return place_below(url, "/v1/traces")


def trace_id(run: str, holder: int, sequence: int) -> int:
    """The 128-bit id of the trace of a batch: of which run, which task holds it, and its number there."""
    return int.from_bytes(hashlib.blake2b(f"{run}/{holder}/{sequence}".encode(), digest_size=16).digest())


class _Waiting(NamedTuple):
    """A span that is to be sent, of a run of a topology."""

    topology: str
    run: str
    of_task: TaskSpan


class OtlpTraceSender:
    """Sends the spans that have come, round by round.

    Args:
        containers: whose spans these are.
        url: of the receiver, with its path.
        timeout_s: how long one request may take, with all that the library tries again.
    """

    def __init__(self, containers: Containers, url: str, timeout_s: float = TIMEOUT_S) -> None:
        self._containers, self._said = containers, LastWords()
        self._exporter = OTLPSpanExporter(endpoint=url, timeout=timeout_s)
        self._readers: dict[Path, TraceReader] = {}
        self._waiting: deque[_Waiting] = deque(maxlen=SPANS_KEPT)

    def send(self) -> int:
        """Send what has come since the last round, and what could not be sent then. Returns the number of spans.

        Raises:
            OSError: the receiver cannot be reached, or does not take it. What was to be sent waits.
        """
        found = {folder: topology for topology, folder in self._containers()}
        self._readers = {folder: self._readers.get(folder) or TraceReader(folder) for folder in found}
        for folder, reader in self._readers.items():
            self._waiting.extend(_Waiting(found[folder], folder.parent.name, one) for one in reader.read())
        return send_waiting(self._waiting, AT_ONCE, self._export)

    def close(self) -> None:
        """Close the connection."""
        self._exporter.shutdown()  # type: ignore[no-untyped-call]

    def _export(self, spans: list[_Waiting]) -> None:
        with self._said:
            result = self._exporter.export(to_spans(spans))
        if result is not SpanExportResult.SUCCESS:
            raise OSError(self._said.text or "it does not answer")


def to_spans(waiting: Iterable[_Waiting]) -> list[ReadableSpan]:
    """Spans in OpenTelemetry's shape: each topology a resource."""
    ordered = sorted(waiting, key=lambda one: one.topology)
    return [
        _to_span(one, resource)
        for topology, own in groupby(ordered, key=lambda one: one.topology)
        for resource in [Resource({"service.namespace": "ouzel", "service.name": topology})]
        for one in own
    ]


def _to_span(waiting: _Waiting, resource: Resource) -> ReadableSpan:
    """The first parent is the span's, as far as OpenTelemetry knows; others, of frames that were handled with that, are links."""
    span = waiting.of_task.span
    trace = trace_id(waiting.run, span.root_task, span.sequence)
    parents = [_context(trace, parent) for parent in span.parents]
    return ReadableSpan(
        f"{span.doing} {waiting.of_task.component}",
        context=_context(trace, span.id),
        parent=parents[0] if parents else None,
        resource=resource,
        attributes=_attributes(waiting),
        links=[Link(parent) for parent in parents[1:]],
        kind=SpanKind.INTERNAL,
        start_time=span.began_us * 1_000,
        end_time=span.ended_us * 1_000,
        instrumentation_scope=_SCOPE,
    )


def _context(trace: int, span: int) -> SpanContext:
    return SpanContext(trace, span, is_remote=True, trace_flags=TraceFlags(TraceFlags.SAMPLED))


def _attributes(waiting: _Waiting) -> dict[str, str | int | tuple[str, ...]]:
    of_task, span = waiting.of_task, waiting.of_task.span
    return {
        "component": of_task.component,
        "instance": of_task.task,
        "operators": of_task.operators,
        "rows_in": span.rows_in,
        "rows_out": span.rows_out,
        "attempt": span.attempt,
        "run": waiting.run,
    }
