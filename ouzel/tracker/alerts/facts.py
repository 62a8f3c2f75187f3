"""What conditions are about, taken from snapshots."""

from __future__ import annotations

from dataclasses import replace

from ouzel.runtime.observe.reconciled import KeptReconciliations, ReconciliationSummary
from ouzel.runtime.run import Status
from ouzel.tracker import words
from ouzel.tracker.alerts.conditions import TopologyFacts
from ouzel.tracker.health.checkup import check_health
from ouzel.tracker.metrics.history import History
from ouzel.tracker.metrics.rates import rates
from ouzel.tracker.topologies.epochs import epoch_age_s, list_epochs
from ouzel.tracker.topologies.snapshot import TopologySnapshot
from ouzel.tracker.topologies.watching import TopologyWatcher, Unreadable

RECONCILED = "not submitted"
"""How a query stands of which reconciliations are kept, and that is not submitted."""


def find_facts(watcher: TopologyWatcher, now_s: float) -> dict[str, TopologyFacts | None]:
    """The facts of all submitted topologies and of queries that were reconciled, by name; None of one that cannot be read and stands as
    before."""
    found: dict[str, TopologyFacts | None] = dict.fromkeys(watcher.registry.names())
    for one in watcher.snapshots():
        if isinstance(one, Unreadable):
            found[one.record.name] = TopologyFacts(one.condition.value)
        else:
            found[one.name] = facts_of(watcher, one, now_s)
    for query, unexplained in count_unexplained(KeptReconciliations(watcher.registry.home)).items():
        known = found.get(query, TopologyFacts(RECONCILED))
        if known is not None:
            found[query] = replace(known, figures={**known.figures, "unexplained": unexplained})
    return found


def count_unexplained(kept: KeptReconciliations) -> dict[str, float]:
    """By query, how much the newest reconciliation of each of its tables cannot explain: rows, and things that were changed since."""
    newest: dict[tuple[str, str], ReconciliationSummary] = {}
    for each in kept.list_newest():
        newest.setdefault((each.query, each.table), each)
    found: dict[str, float] = {}
    for (query, _), each in newest.items():
        found[query] = found.get(query, 0.0) + each.unexplained + len(each.changed)
    return found


def facts_of(watcher: TopologyWatcher, one: TopologySnapshot, now_s: float) -> TopologyFacts:
    """The facts of one topology; of one that does not run only how it stands."""
    if not one.is_alive:
        return TopologyFacts(one.condition.value)
    history, epochs = watcher.history(one), list_epochs(watcher.registry, one)
    has_epochs = one.job.topology.settings.has_epochs
    return TopologyFacts(
        one.condition.value,
        behind_s=_behind_s(one.status, now_s) if one.status else None,
        epoch_age_s=epoch_age_s(one, epochs, now_s) if has_epochs else None,
        figures=_figures(one, history, now_s),
        verdicts=frozenset(each.kind for each in check_health(one, history, epochs, now_s)),
    )


def _behind_s(status: Status, now_s: float) -> float | None:
    behind = words.behind_s(status.watermark_us, now_s)
    return behind if behind is not None or status.lag_ms is None else status.lag_ms / 1e3


def _figures(one: TopologySnapshot, history: History, now_s: float) -> dict[str, float]:
    status, (rate, _) = one.status, rates(one, history, now_s)
    known = {
        "rate": rate,
        "lag": status.lag if status else None,
        "restarts": status.restarts if status else None,
        "late": status.rows_late if status else None,
        "bad": status.rows_bad if status else None,
        "shed": status.rows_shed if status else None,
        "replayed": status.rows_failed if status else None,
    }
    return {name: float(value) for name, value in known.items() if value is not None}
