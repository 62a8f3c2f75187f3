"""Sends the metrics of all submitted topologies to a receiver of OpenTelemetry's protocol (OTLP over HTTP), by its own library.

It reads the files of history that metrics managers write, as `graphite.py` does, and sends each sample with its own time.
"""

from __future__ import annotations

import logging
import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import NamedTuple
from urllib.parse import urlsplit, urlunsplit

from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.sdk.metrics.export import (
    AggregationTemporality,
    Gauge,
    Metric,
    MetricExportResult,
    MetricsData,
    NumberDataPoint,
    ResourceMetrics,
    ScopeMetrics,
    Sum,
)
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.util.instrumentation import InstrumentationScope

from ouzel.runtime.observe.task_metrics import CPU_TIME, MEMORY, STATE_BYTES, MetricsSample
from ouzel.tracker.metrics.new_samples import Containers, NewSamples, send_waiting

SAMPLES_KEPT = 20_000
"""The most samples that wait while the receiver cannot be reached; the oldest are dropped first."""

AT_ONCE = 200
"""So many samples are sent in one request."""

TIMEOUT_S = 10.0
PATH = "/v1/metrics"
UNITS = {CPU_TIME: "ns", MEMORY: "By"}
NAME_CHARACTERS_MAX = 255

_STRANGE = re.compile(r"[^A-Za-z0-9_./-]+")
_SCOPE = InstrumentationScope("ouzel")


def metric_name(metric: str) -> str:
    """The name of a metric as OpenTelemetry takes it: `__emit-count/default` is `ouzel.emit-count`."""
    bare = metric.removeprefix("__").removesuffix("/default")
    return f"ouzel.{_STRANGE.sub('_', bare)}"[:NAME_CHARACTERS_MAX]


def metrics_url(url: str) -> str:
    """Where metrics go, below an address or at it if it has a path.

    Raises:
        ValueError: it is no address of HTTP.
    """
    return place_below(url, PATH)


def place_below(url: str, path: str) -> str:
    """The address of a receiver, with the path if it has none.

    Raises:
        ValueError: it is no address of HTTP.
    """
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.port == 0:
        raise ValueError(f"'{url}' is no address; write http://HOST:4318")
    return urlunsplit(parts if parts.path.strip("/") else parts._replace(path=path))


class _Waiting(NamedTuple):
    """A sample that is to be sent, and when the life of its instance began, as far as that is known."""

    topology: str
    began_s: int
    sample: MetricsSample


class OtlpSender:
    """Sends what has come, round by round.

    Args:
        containers: whose metrics these are.
        url: of the receiver, with its path.
        timeout_s: how long one request may take, with all that the library tries again.
    """

    def __init__(self, containers: Containers, url: str, timeout_s: float = TIMEOUT_S) -> None:
        self._samples, self._said = NewSamples(containers), LastWords()
        self._exporter = OTLPMetricExporter(endpoint=url, timeout=timeout_s)
        self._lives: dict[tuple[str, str, int], tuple[int, int]] = {}
        self._waiting: deque[_Waiting] = deque(maxlen=SAMPLES_KEPT)

    def send(self) -> int:
        """Send what has come since the last round, and what could not be sent then. Returns the number of samples.

        Raises:
            OSError: the receiver cannot be reached, or does not take it. What was to be sent waits.
        """
        for topology, sample in self._samples.read():
            self._waiting.append(_Waiting(topology, self._find_begin(topology, sample), sample))
        return send_waiting(self._waiting, AT_ONCE, self._export)

    def close(self) -> None:
        """Close the connection."""
        self._exporter.shutdown()

    def _export(self, samples: list[_Waiting]) -> None:
        with self._said:
            result = self._exporter.export(to_metrics(samples))
        if result is not MetricExportResult.SUCCESS:
            raise OSError(self._said.text or "it does not answer")

    def _find_begin(self, topology: str, sample: MetricsSample) -> int:
        """When this life of an instance was first seen: its counts are since then, or since somewhat before."""
        key = topology, sample.component, sample.instance
        life, began_s = self._lives.get(key, (-1, 0))
        if sample.life != life:
            began_s = sample.time_s
            self._lives[key] = sample.life, began_s
        return began_s


class LastWords(logging.Handler):
    """While it is entered, notes what the library logs, instead of a terminal: it says only so why it failed."""

    _logger = logging.getLogger("opentelemetry")

    def __init__(self) -> None:
        super().__init__()
        self.text = ""

    def emit(self, record: logging.LogRecord) -> None:
        self.text = record.getMessage()

    def __enter__(self) -> None:
        self.text, self._logger.propagate = "", False
        self._logger.addHandler(self)

    def __exit__(self, *_: object) -> None:
        self._logger.removeHandler(self)
        self._logger.propagate = True


def to_metrics(samples: Iterable[_Waiting]) -> MetricsData:
    """Samples in OpenTelemetry's shape: each topology a resource, each metric with a point for each instance and time."""
    ordered = sorted(samples, key=lambda one: one.topology)
    return MetricsData(
        [
            ResourceMetrics(
                Resource({"service.namespace": "ouzel", "service.name": topology}),
                [ScopeMetrics(_SCOPE, list(_metrics_of(list(own))), "")],
                "",
            )
            for topology, own in groupby(ordered, key=lambda one: one.topology)
        ]
    )


def _metrics_of(samples: list[_Waiting]) -> Iterator[Metric]:
    counts: dict[str, list[NumberDataPoint]] = {}
    values: dict[str, list[NumberDataPoint]] = {}
    for _, began_s, sample in samples:
        _add(counts, sample, sample.counts, began_s * 10**9)
        _add(values, sample, sample.values, 0)
    for metric, points in counts.items():
        data = Sum(points, AggregationTemporality.CUMULATIVE, is_monotonic=True)
        yield Metric(metric_name(metric), "", UNITS.get(metric, ""), data)
    for metric, points in values.items():
        unit = "By" if metric.startswith(STATE_BYTES) else UNITS.get(metric, "")
        yield Metric(metric_name(metric), "", unit, Gauge(points))


def _add(
    found: dict[str, list[NumberDataPoint]], sample: MetricsSample, given: Mapping[str, float], began_ns: int
) -> None:
    attributes: dict[str, str | int] = {"component": sample.component, "instance": sample.instance}
    for metric, value in given.items():
        found.setdefault(metric, []).append(NumberDataPoint(attributes, began_ns, sample.time_s * 10**9, value))
