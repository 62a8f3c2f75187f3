"""The pages of reconciliations: all that are kept, and one with its report in place.

A report is a file: it is shown in a frame of its own, without scripts, forms, or any way to the page around it, whatever it holds.
"""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import HTMLResponse
from starlette.responses import Response

from ouzel.runtime.observe.reconciled import KeptReconciliations, ReconciliationSummary
from ouzel.tracker.api.routes import AppWatcher
from ouzel.tracker.pages.topology_pages import render
from ouzel.tracker.topologies.watching import TopologyWatcher

REPORT_HEADERS = {
    "Content-Security-Policy": "sandbox; default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'self'",
}
"""What a browser may do with a report: show it, with its own styles, within a page of ours."""

reconciliation_router = APIRouter(include_in_schema=False)


@reconciliation_router.get("/reconciliations", response_class=HTMLResponse)
def reconciliations_page(watcher: AppWatcher) -> Response:
    """All reconciliations that are kept."""
    return render(
        "reconciliations.html",
        reconciliations=kept_reconciliations(watcher).list_newest(),
        leads=watcher.registry.names(),
        problems=kept_reconciliations(watcher).describe_damaged(),
    )


@reconciliation_router.get("/pages/reconciliations", response_class=HTMLResponse)
def reconciliations_part(watcher: AppWatcher) -> Response:
    """The same as what changes on that page."""
    kept = kept_reconciliations(watcher)
    return render(
        "all_reconciled.html",
        reconciliations=kept.list_newest(),
        leads=watcher.registry.names(),
        problems=kept.describe_damaged(),
    )


@reconciliation_router.get("/reconciliations/{reconciliation}", response_class=HTMLResponse)
def reconciliation_page(watcher: AppWatcher, reconciliation: str) -> Response:
    """One of them, its report in place."""
    found = kept_reconciliations(watcher).find(reconciliation)
    if found is None:
        return _not_kept(kept_reconciliations(watcher).describe_damage(reconciliation))
    others = kept_reconciliations(watcher).list_newest({found.query})
    has_report = kept_reconciliations(watcher).read_report(found.id) is not None
    return render("reconciliation.html", one=found, has_report=has_report, others=_neighbours(found, others))


@reconciliation_router.get("/reconciliations/{reconciliation}/report", response_class=HTMLResponse)
def report_page(watcher: AppWatcher, reconciliation: str) -> Response:
    """The report alone, as `ouzel reconcile --report` writes it."""
    report = kept_reconciliations(watcher).read_report(reconciliation)
    return _not_kept() if report is None else HTMLResponse(report, headers=REPORT_HEADERS)


def kept_reconciliations(watcher: TopologyWatcher) -> KeptReconciliations:
    """The reconciliations beside the topologies that are watched."""
    return KeptReconciliations(watcher.registry.home)


def _not_kept(damage: str = "") -> Response:
    problem = damage or "no such reconciliation is kept: only the newest are"
    return render("problem.html", 404, title="Not found", problem=problem)


def _neighbours(one: ReconciliationSummary, others: list[ReconciliationSummary]) -> dict[str, str]:
    """The reconciliations of the same table before and after, by the text of the link."""
    same = [each.id for each in others if each.table == one.table]
    place = same.index(one.id) if one.id in same else 0
    links = {"earlier": same[place + 1 : place + 2], "later": same[max(0, place - 1) : place]}
    return {text: found[0] for text, found in links.items() if found}
