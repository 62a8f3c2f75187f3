"""Files for Grafana and Prometheus, made from the table of what `/metrics` gives: a dashboard, and rules of alerts."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from prometheus_client.core import Metric

from ouzel.tracker.metrics.prometheus import STATE, labels_of, list_families

DASHBOARD, RULES = "ouzel-dashboard.json", "ouzel-rules.yml"

_WIDTH, _HEIGHT, _COLUMNS = 12, 8, 2
_SOURCE = {"type": "prometheus", "uid": "${source}"}


@dataclass(frozen=True)
class Alert:
    """A rule: the expression holds for so long."""

    name: str
    expression: str
    lasts: str
    severity: str
    summary: str


ALERTS = (
    Alert(
        "OuzelTopologyDown",
        'ouzel_topology_state{state=~"failed|interrupted"} == 1',
        "1m",
        "critical",
        "{{ $labels.topology }} is {{ $labels.state }}",
    ),
    Alert(
        "OuzelLagGrows",
        "deriv(ouzel_lag_records[10m]) > 0 and ouzel_lag_records > 1000",
        "10m",
        "warning",
        "{{ $labels.topology }} reads more slowly than rows come: {{ $value }} records a second more wait",
    ),
    Alert(
        "OuzelBackPressure",
        "min_over_time(ouzel_back_pressure[5m]) == 1",
        "5m",
        "warning",
        "{{ $labels.topology }} has had a task that is slower than its input for ten minutes",
    ),
    Alert(
        "OuzelRestarts",
        "delta(ouzel_restarts[15m]) > 3",
        "0m",
        "warning",
        "processes of {{ $labels.topology }} were started again {{ $value }} times in 15 minutes",
    ),
    Alert(
        "OuzelRowsReplayed",
        "rate(ouzel_rows_failed_total[5m]) > 0",
        "10m",
        "warning",
        "{{ $labels.topology }} replays rows",
    ),
    Alert(
        "OuzelBadRows",
        "increase(ouzel_rows_bad_total[5m]) > 0",
        "0m",
        "warning",
        "{{ $labels.topology }} could not read {{ $value }} records in 5 minutes",
    ),
    Alert(
        "OuzelTaskFull",
        "min_over_time(ouzel_task_cores[5m]) > 0.9",
        "10m",
        "warning",
        "{{ $labels.component }}[{{ $labels.task }}] of {{ $labels.topology }} uses all of a core: give it more tasks",
    ),
)


def make_rules(alerts: Iterable[Alert] = ALERTS) -> dict[str, Any]:
    """The rules as Prometheus reads them."""
    rules = [
        {
            "alert": alert.name,
            "expr": alert.expression,
            "for": alert.lasts,
            "labels": {"severity": alert.severity},
            "annotations": {"summary": alert.summary},
        }
        for alert in alerts
    ]
    return {"groups": [{"name": "ouzel", "rules": rules}]}


def make_dashboard(families: Iterable[Metric] | None = None) -> dict[str, Any]:
    """The dashboard as Grafana reads it: a panel for each family, for the topologies that are chosen."""
    known = list_families() if families is None else families
    panels = [_panel(family, place) for place, family in enumerate(known)]
    return {
        "uid": "ouzel-topologies",
        "title": "Ouzel topologies",
        "schemaVersion": 39,
        "time": {"from": "now-1h", "to": "now"},
        "refresh": "30s",
        "templating": {"list": [_source_variable(), _topology_variable()]},
        "panels": panels,
    }


def _panel(family: Metric, place: int) -> dict[str, Any]:
    row, column = divmod(place, _COLUMNS)
    expression, legend = query_of(family)
    return {
        "id": place + 1,
        "type": "timeseries",
        "title": family.documentation.rstrip("."),
        "description": family.name,
        "datasource": _SOURCE,
        "gridPos": {"x": column * _WIDTH, "y": row * _HEIGHT, "w": _WIDTH, "h": _HEIGHT},
        "fieldConfig": {"defaults": {"unit": _unit(family)}, "overrides": []},
        "targets": [{"refId": "A", "datasource": _SOURCE, "expr": expression, "legendFormat": legend}],
    }


def query_of(family: Metric) -> tuple[str, str]:
    """What a panel asks for of a family, and how its lines are named: of a counter its rate, of the state only what holds."""
    legend = " ".join(f"{{{{{label}}}}}" for label in labels_of(family))
    chosen = '{topology=~"$topology"}'
    if family.type == "counter":
        return f"rate({family.name}_total{chosen}[$__rate_interval])", legend
    return f"{family.name}{chosen}{' == 1' if family.name == STATE else ''}", legend


def _unit(family: Metric) -> str:
    is_rate = family.type == "counter"
    if "bytes" in family.name:
        return "Bps" if is_rate else "bytes"
    if family.name == "ouzel_watermark_seconds":
        return "dateTimeAsIso"
    return "s" if family.name.endswith("_seconds") else "short"


def _source_variable() -> dict[str, Any]:
    return {"name": "source", "type": "datasource", "query": "prometheus", "label": "Data source"}


def _topology_variable() -> dict[str, Any]:
    return {
        "name": "topology",
        "type": "query",
        "datasource": _SOURCE,
        "query": f"label_values({STATE}, topology)",
        "includeAll": True,
        "multi": True,
        "refresh": 2,
        "current": {"text": "All", "value": "$__all"},
    }


def write_monitoring(folder: Path) -> list[Path]:
    """Write both into a folder, which is made if it is not there; what was written.

    Raises:
        OSError: there is no room, or it may not be written to.
    """
    folder.mkdir(parents=True, exist_ok=True)
    made: Mapping[str, dict[str, Any]] = {DASHBOARD: make_dashboard(), RULES: make_rules()}
    for name, content in made.items():
        (folder / name).write_text(json.dumps(content, indent=2) + "\n")  # JSON is YAML, too
    return [folder / name for name in made]
