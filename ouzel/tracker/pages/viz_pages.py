"""The dashboards' page of a topology."""

from __future__ import annotations

import time
from urllib.parse import quote, urlencode

from fastapi import APIRouter, Query
from fastapi.responses import HTMLResponse
from starlette.responses import Response

from ouzel.runtime.process.metrics_file import HISTORY_S
from ouzel.tracker.api.routes import AppWatcher
from ouzel.tracker.metrics.grids import FINEST_S, Grid
from ouzel.tracker.pages import charts
from ouzel.tracker.pages.dashboards import DashboardMaker
from ouzel.tracker.pages.topology_pages import render, show_found
from ouzel.tracker.topologies.snapshot import TopologySnapshot
from ouzel.tracker.topologies.watching import TopologyWatcher

SPANS = {"3m": 180, "10m": 600, "1h": 3_600, "3h": HISTORY_S}
"""Spans up to now, in seconds; `all` is from the first sample on."""

SPAN_MAX_S = 31 * 86_400
SPAN = "1h"

viz_router = APIRouter(include_in_schema=False)


@viz_router.get("/topology/{name}/viz", response_class=HTMLResponse)
def viz_page(
    watcher: AppWatcher,
    name: str,
    span: str = SPAN,
    begin: int | None = Query(None, alias="from"),
    end: int | None = Query(None, alias="to"),
) -> Response:
    """The dashboards of a topology over a span up to now, or between two times."""
    return _viz(watcher, name, "viz.html", span, begin, end)


@viz_router.get("/pages/viz/{name}", response_class=HTMLResponse)
def viz_part(watcher: AppWatcher, name: str, span: str = SPAN) -> Response:
    """The same over a span up to now, as what changes on that page."""
    return _viz(watcher, name, "charts.html", span, None, None)


def _viz(watcher: TopologyWatcher, name: str, template: str, span: str, begin: int | None, end: int | None) -> Response:
    def show(snapshot: TopologySnapshot) -> Response:
        history, now_s = watcher.history(snapshot), int(time.time())
        grid = find_grid(span, begin, end, history.began_s, now_s)
        boards = [
            (board.title, [charts.draw_chart(panel, grid) for panel in board.panels])
            for board in DashboardMaker(snapshot, history, grid).make()
        ]
        chosen = "" if begin is not None and end is not None else span
        return render(template, name=name, boards=boards, grid=grid, span=chosen, **_links(name, grid))

    return show_found(watcher, name, show)


def find_grid(span: str, begin: int | None, end: int | None, began_s: int | None, now_s: int) -> Grid:
    """The grid of what is asked for: times win over a span; what is no span is the usual one."""
    if begin is not None and end is not None:
        first = min(max(0, begin), now_s)
        return Grid.between(first, min(max(first + FINEST_S, end), first + SPAN_MAX_S))
    if span == "all":
        return Grid.between(max(now_s - SPAN_MAX_S, min(began_s or now_s, now_s - FINEST_S)), now_s)
    return Grid.between(now_s - SPANS.get(span, SPANS[SPAN]), now_s)


def _links(name: str, grid: Grid) -> dict[str, object]:
    """Where the links of the page lead: other spans, and the same one earlier, later, nearer and from farther away."""
    address, length = f"/topology/{quote(name)}/viz", grid.last - grid.first
    moves = {
        "earlier": (grid.first - length // 2, grid.last - length // 2),
        "later": (grid.first + length // 2, grid.last + length // 2),
        "zoom in": (grid.first + length // 4, grid.last - length // 4),
        "zoom out": (grid.first - length // 2, grid.last + length // 2),
    }
    return {
        "address": address,
        "spans": [*SPANS, "all"],
        "moves": {
            title: f"{address}?{urlencode({'from': max(0, begin), 'to': end})}" for title, (begin, end) in moves.items()
        },
        "chart": charts,
    }
