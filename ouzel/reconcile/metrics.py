"""What a watch has found, for Prometheus: text over HTTP."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence

from ouzel.connectors.backlog import Backlog
from ouzel.errors import OuzelError
from ouzel.reconcile.explaining.classes import Class
from ouzel.reconcile.watch import Round, Watch

LOOPBACK = "127.0.0.1"
MATCHED = "matched"

_LAGS = {
    "records": "Records that wait behind what was read.",
    "bytes": "Their bytes.",
    "age_seconds": "How long the last one handed out had waited.",
    "journal_bytes": "What the server keeps on its disk.",
}


def _measures(backlog: Backlog) -> dict[str, float | None]:
    age_s = None if backlog.age_ms is None else backlog.age_ms / 1000
    return dict(zip(_LAGS, (backlog.records, backlog.bytes, age_s, backlog.journal_bytes), strict=True))


class Metrics:
    """Serves `http://host:port/metrics` until it is closed; `port` 0 is any that is free. All series name query and table."""

    def __init__(
        self, query: str, table: str, port: int, host: str = LOOPBACK, now: Callable[[], float] = time.time
    ) -> None:
        try:
            from prometheus_client import CollectorRegistry, Counter, Gauge, disable_created_metrics, start_http_server
        except ModuleNotFoundError:
            raise OuzelError(
                'metrics need prometheus-client, which is not installed; write: pip install "ouzel[metrics]"'
            ) from None
        disable_created_metrics()  # type: ignore[no-untyped-call]  # two series a counter would say when we started
        registry, names, self._now = CollectorRegistry(), ("query", "table"), now
        labels = {"query": query, "table": table}
        rows = Gauge(
            "ouzel_reconcile_rows", "Rows compared, by class; matched are equal.", (*names, "class"), registry=registry
        )
        self._rows = {name: rows.labels(*labels.values(), name) for name in (MATCHED, *(kind.value for kind in Class))}
        self._windows = Counter("ouzel_reconcile_windows", "Windows compared.", names, registry=registry).labels(
            **labels
        )
        self._rounds = Counter("ouzel_reconcile_rounds", "Looks at the run.", names, registry=registry).labels(**labels)
        self._failed = Counter("ouzel_reconcile_failed_rounds", "Looks that failed.", names, registry=registry).labels(
            **labels
        )
        self._last = Gauge(
            "ouzel_reconcile_last_round_timestamp_seconds", "When the last look ended.", names, registry=registry
        ).labels(**labels)
        self._took = Gauge("ouzel_reconcile_round_seconds", "How long it took.", names, registry=registry).labels(
            **labels
        )
        self._lags = {
            name: Gauge(f"ouzel_lag_{name}", text, (*names, "source", "place"), registry=registry)
            for name, text in _LAGS.items()
        }
        self._labels, self._lagging = (query, table), set[tuple[str, str, str]]()
        try:
            self._server, self._thread = start_http_server(port, host, registry)
        except OSError as error:
            raise OuzelError(
                f"metrics cannot be served on {host}:{port}: {error.strerror}; choose another with --metrics"
            ) from error
        self.address = f"http://{host}:{self._server.server_port}/metrics"

    def add(self, look: Round, watch: Watch) -> None:
        """A round is over."""
        self._rounds.inc()
        self._windows.inc(look.windows)
        self._last.set(self._now())
        self._took.set(look.seconds)
        if watch.total is not None:
            self._rows[MATCHED].set(watch.total.matched)
            for kind in Class:
                self._rows[kind.value].set(watch.total.counts.get(kind, 0))

    def show_lag(self, backlogs: Mapping[str, Sequence[Backlog]]) -> None:
        """Where most waits to be read, source by source; a place that is not told of any more has no series."""
        told = {
            (name, source, backlog.place): value
            for source, places in backlogs.items()
            for backlog in places
            for name, value in _measures(backlog).items()
            if value is not None
        }
        for name, source, place in self._lagging - told.keys():
            self._lags[name].remove(*self._labels, source, place)
        for (name, source, place), value in told.items():
            self._lags[name].labels(*self._labels, source, place).set(value)
        self._lagging = set(told)

    def on_failure(self) -> None:
        """A round has failed."""
        self._failed.inc()

    def close(self) -> None:
        """Serve no more."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
