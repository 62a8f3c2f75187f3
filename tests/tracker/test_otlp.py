"""Metrics by OpenTelemetry's protocol: a server that decodes them with the library's own messages gets each sample once."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
    ExportMetricsServiceResponse,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.metrics.v1.metrics_pb2 import AGGREGATION_TEMPORALITY_CUMULATIVE, Metric
from opentelemetry.proto.trace.v1.trace_pb2 import Span
from typer.testing import CliRunner

from ouzel.cli.main import app as commands
from ouzel.planner.topology import Task
from ouzel.runtime.cluster.submitted.registry import Registry
from ouzel.runtime.observe.task_metrics import CPU_TIME, MetricsSample
from ouzel.runtime.observe.trace_files import TraceWriter
from ouzel.runtime.process.metrics_file import MetricsWriter
from ouzel.runtime.protocol.cluster.submitted import Condition, Submitted
from ouzel.runtime.protocol.trace_span import TraceSpan
from ouzel.runtime.protocol.tracing import COMPUTE, READ
from ouzel.tracker.metrics.otlp import OtlpSender, metric_name, metrics_url
from ouzel.tracker.metrics.otlp_traces import OtlpTraceSender, trace_id, traces_url
from tests.tracker.snapshots import EVIL

PATHS = ("/v1/metrics", "/v1/traces")
EMITTED, LAG = "__emit-count/default", "__lag"


class Receiver:
    """Takes OTLP over HTTP on a free port of the loopback; what it got stands in `requests`, unless it is to refuse."""

    def __init__(self) -> None:
        self.requests: list[ExportMetricsServiceRequest] = []
        self.traces: list[ExportTraceServiceRequest] = []
        self.headers: list[dict[str, str]] = []
        self.status = 200
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if receiver.status == 200 and self.path in PATHS:
                    receiver.headers.append(dict(self.headers))
                if receiver.status == 200 and self.path == "/v1/metrics":
                    receiver.requests.append(ExportMetricsServiceRequest.FromString(body))
                if receiver.status == 200 and self.path == "/v1/traces":
                    receiver.traces.append(ExportTraceServiceRequest.FromString(body))
                answer = ExportMetricsServiceResponse().SerializeToString()
                self.send_response(receiver.status if self.path in PATHS else 404)
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Be gone."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def points(self) -> list[tuple[str, str, str, int, int, float, int]]:
        """All points: topology, metric, component, instance, time and value; last when its count began."""
        found = []
        for request in self.requests:
            for resource in request.resource_metrics:
                (name,) = (one.value.string_value for one in resource.resource.attributes if one.key == "service.name")
                for metric in resource.scope_metrics[0].metrics:
                    found += [(name, metric.name, *point) for point in _points_of(metric)]
        return sorted(found, key=lambda point: (point[1], point[4]))

    @property
    def spans(self) -> list[tuple[str, Span]]:
        """All spans, each with the name of its topology."""
        return [
            (one.value.string_value, span)
            for request in self.traces
            for resource in request.resource_spans
            for one in resource.resource.attributes
            if one.key == "service.name"
            for scope in resource.scope_spans
            for span in scope.spans
        ]


def _points_of(metric: Metric) -> Iterator[tuple[str, int, int, float, int]]:
    for point in (metric.sum if metric.HasField("sum") else metric.gauge).data_points:
        named = {one.key: one.value for one in point.attributes}
        value = point.as_int if point.HasField("as_int") else point.as_double
        yield (
            named["component"].string_value,
            named["instance"].int_value,
            point.time_unix_nano // 10**9,
            value,
            point.start_time_unix_nano // 10**9,
        )


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    """One that listens."""
    made = Receiver()
    yield made
    made.close()


def sample(time_s: int, emitted: int, life: int = 1) -> MetricsSample:
    """What an instance with a bad name said."""
    return MetricsSample(time_s, EVIL, 3, life, frozenset(), {EMITTED: emitted, CPU_TIME: 5}, {LAG: 0.5})


def test_each_sample_comes_once_with_its_own_time(tmp_path: Path, receiver: Receiver) -> None:
    writer = MetricsWriter(tmp_path)
    writer.write([sample(10, 1), sample(20, 2)], 20)
    sender = OtlpSender(lambda: [("made", tmp_path)], metrics_url(receiver.url))
    assert (sender.send(), sender.send()) == (2, 0)
    writer.write([sample(30, 7, life=2)], 30)
    assert sender.send() == 1
    sender.close()
    assert [point for point in receiver.points if point[1] == "ouzel.emit-count"] == [
        ("made", "ouzel.emit-count", EVIL, 3, 10, 1, 10),
        ("made", "ouzel.emit-count", EVIL, 3, 20, 2, 10),
        ("made", "ouzel.emit-count", EVIL, 3, 30, 7, 30),
    ]
    metrics = {one.name: one for one in receiver.requests[0].resource_metrics[0].scope_metrics[0].metrics}
    assert metrics["ouzel.emit-count"].sum.is_monotonic
    assert metrics["ouzel.emit-count"].sum.aggregation_temporality == AGGREGATION_TEMPORALITY_CUMULATIVE
    assert metrics["ouzel.cpu-time-ns"].unit == "ns"
    assert [point.as_double for point in metrics["ouzel.lag"].gauge.data_points] == [0.5, 0.5]


@pytest.mark.parametrize("status", [401, 404, 503])
def test_what_is_refused_waits_and_comes_once(status: int, tmp_path: Path, receiver: Receiver) -> None:
    writer = MetricsWriter(tmp_path)
    writer.write([sample(10, 1)], 10)
    sender = OtlpSender(lambda: [("made", tmp_path)], metrics_url(receiver.url), timeout_s=0.2)
    receiver.status = status
    for _ in range(2):
        with pytest.raises(OSError, match=r"."):
            sender.send()
    writer.write([sample(20, 2)], 20)
    receiver.status = 200
    assert sender.send() == 2
    assert [point[4:6] for point in receiver.points if point[1] == "ouzel.emit-count"] == [(10, 1), (20, 2)]
    sender.close()


@pytest.fixture
def containers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Those of two submitted topologies, `one` and `two`; whoever sends has a token."""
    monkeypatch.setenv("OUZEL_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20a-secret")
    registry, folders = Registry(), list[Path]()
    for name in ("one", "two"):
        registry.put(Submitted(name, f"{name}-1", 1, Condition.STOPPED, 0, True))
        folders.append(registry.folder(name).run(f"{name}-1") / "container-1")
        folders[-1].mkdir(parents=True)
    return folders


def test_the_command_sends_all_topologies_with_the_headers_of_the_library(
    containers: list[Path], receiver: Receiver
) -> None:
    for folder in containers:
        MetricsWriter(folder).write([sample(10, 7)], 10)
    done = CliRunner().invoke(commands, ["metrics", "otlp", receiver.url, "--once"])
    assert (done.exit_code, done.output) == (0, "")
    assert {point[0] for point in receiver.points} == {"one", "two"}
    assert {headers["authorization"] for headers in receiver.headers} == {"Bearer a-secret"}
    receiver.status = 401
    MetricsWriter(containers[0]).write([sample(20, 8)], 20)
    refused = CliRunner().invoke(commands, ["metrics", "otlp", receiver.url, "--once"])
    assert (refused.exit_code, refused.output.startswith("error: the receiver cannot be reached: ")) == (1, True)
    assert "a-secret" not in refused.output


SEQUENCE = (3 << 32) + 5
FIRST = TraceSpan(1, SEQUENCE, READ, 11, (), 1_000, 2_000, 0, 10, 9)
THEN = TraceSpan(1, SEQUENCE, COMPUTE, 2**64 - 1, (11, 12), 2_500, 3_000, 1, 9, 4)


def write_spans(folder: Path) -> None:
    """What two tasks did, of which one has a bad name."""
    for task, operators, span in ((Task(1, "words", 0), ["1 Scan"], FIRST), (Task(3, EVIL, 0), [], THEN)):
        writer = TraceWriter(folder, task)
        writer.note(span)
        writer.on_tick(operators, 0.0)


def test_spans_come_once_with_their_parents_times_and_what_was_done(tmp_path: Path, receiver: Receiver) -> None:
    folder = tmp_path / "words-4a" / "container-1"
    folder.mkdir(parents=True)
    write_spans(folder)
    sender = OtlpTraceSender(lambda: [("made", folder)], traces_url(receiver.url))
    assert (sender.send(), sender.send()) == (2, 0)
    sender.close()
    (topology, first), (_, then) = sorted(receiver.spans, key=lambda one: one[1].start_time_unix_nano)
    assert topology == "made"
    ids = [one.trace_id for _, one in receiver.spans]
    assert ids == [trace_id("words-4a", 1, SEQUENCE).to_bytes(16)] * 2
    assert (
        trace_id("words-4b", 1, SEQUENCE) != trace_id("words-4a", 1, SEQUENCE) != trace_id("words-4a", 1, SEQUENCE + 1)
    )
    assert (first.span_id, first.parent_span_id) == ((11).to_bytes(8), b"")
    assert (then.span_id, then.parent_span_id) == ((2**64 - 1).to_bytes(8), (11).to_bytes(8))
    assert [link.span_id for link in then.links] == [(12).to_bytes(8)]
    assert (first.name, then.name) == ("read words", f"compute {EVIL}")
    assert (then.start_time_unix_nano, then.end_time_unix_nano) == (2_500_000, 3_000_000)
    said = {one.key: one.value for one in then.attributes}
    assert (said["component"].string_value, said["instance"].int_value) == (EVIL, 3)
    assert (said["rows_in"].int_value, said["rows_out"].int_value, said["attempt"].int_value) == (9, 4, 1)
    operators = next(one.value for one in first.attributes if one.key == "operators")
    assert [one.string_value for one in operators.array_value.values] == ["1 Scan"]


def test_spans_that_are_refused_wait_and_come_once(tmp_path: Path, receiver: Receiver) -> None:
    write_spans(tmp_path)
    sender = OtlpTraceSender(lambda: [("made", tmp_path)], traces_url(receiver.url), timeout_s=0.2)
    receiver.status = 503
    for _ in range(2):
        with pytest.raises(OSError, match=r"."):
            sender.send()
    receiver.status = 200
    assert sender.send() == 2
    assert len(receiver.spans) == 2
    sender.close()


def test_the_command_sends_the_traces_of_all_topologies(containers: list[Path], receiver: Receiver) -> None:
    for folder in containers:
        write_spans(folder)
    done = CliRunner().invoke(commands, ["metrics", "traces", receiver.url, "--once"])
    assert (done.exit_code, done.output) == (0, "")
    assert sorted(topology for topology, _ in receiver.spans) == ["one", "one", "two", "two"]
    assert len({span.trace_id for _, span in receiver.spans}) == 2
    assert {headers["authorization"] for headers in receiver.headers} == {"Bearer a-secret"}


@pytest.mark.parametrize("command", ["otlp", "traces"])
@pytest.mark.parametrize("url", ["host:4318", "ftp://host", "http://", "http://host:port", "http://host:0"])
def test_what_is_no_address_is_refused(url: str, command: str) -> None:
    wrong = CliRunner().invoke(commands, ["metrics", command, url, "--once"])
    assert wrong.exit_code == 2


@pytest.mark.parametrize(
    ("metric", "name"),
    [
        (EMITTED, "ouzel.emit-count"),
        ("__back-pressure-by-task/3", "ouzel.back-pressure-by-task/3"),
        ("my own <count>", "ouzel.my_own_count_"),
        ("x" * 300, "ouzel." + "x" * 249),
    ],
)
def test_names_are_those_that_opentelemetry_takes(metric: str, name: str) -> None:
    assert metric_name(metric) == name


def test_addresses_without_a_path_get_that_of_metrics() -> None:
    assert metrics_url("http://host:4318") == metrics_url("http://host:4318/") == "http://host:4318/v1/metrics"
    assert metrics_url("https://host/otlp/v1/metrics") == "https://host/otlp/v1/metrics"
