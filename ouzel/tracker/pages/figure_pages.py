"""The page of figures of a topology: what each component, instance and container did over a span of time."""

from __future__ import annotations

import time
from urllib.parse import quote, urlencode

from fastapi import APIRouter
from fastapi.responses import HTMLResponse
from starlette.responses import Response

from ouzel.tracker.api.routes import AppWatcher
from ouzel.tracker.pages.figures import FIGURES, OF_CONTAINERS, FigureTables, Since
from ouzel.tracker.pages.topology_pages import render, show_found
from ouzel.tracker.pages.viz_pages import SPANS
from ouzel.tracker.topologies.snapshot import TopologySnapshot
from ouzel.tracker.topologies.watching import TopologyWatcher

SPAN = "10m"

figure_router = APIRouter(include_in_schema=False)


@figure_router.get("/topology/{name}/figures", response_class=HTMLResponse)
def figure_page(watcher: AppWatcher, name: str, span: str = SPAN, component: str = "") -> Response:
    """The figures of a topology over a span up to now; of all instances, or of those of one component."""
    return _show(watcher, name, "figures.html", span, component)


@figure_router.get("/pages/figures/{name}", response_class=HTMLResponse)
def figure_part(watcher: AppWatcher, name: str, span: str = SPAN, component: str = "") -> Response:
    """The same, as what changes on that page."""
    return _show(watcher, name, "figure_tables.html", span, component)


def _show(watcher: TopologyWatcher, name: str, template: str, span: str, component: str) -> Response:
    return show_found(watcher, name, lambda found: render(template, **_describe(watcher, found, name, span, component)))


def _describe(
    watcher: TopologyWatcher, snapshot: TopologySnapshot, name: str, span: str, component: str
) -> dict[str, object]:
    """What the page shows, by the names in its template."""
    span = span if span in SPANS or span == "all" else SPAN
    known = [part.name for part in snapshot.job.topology.components]
    component = component if component in known else ""
    since_s = int(time.time()) - SPANS[span] if span in SPANS else 0
    address = f"/topology/{quote(name, safe='')}"

    def link(of: str, over: str = span) -> str:
        return f"{address}/figures?{urlencode({'span': over} | ({'component': of} if of else {}))}"

    tables = FigureTables(snapshot, Since(watcher.history(snapshot), since_s), address)
    instances, more = tables.list_instances(component)
    return {
        "name": name,
        "span": span,
        "spans": {each: link(component, each) for each in (*SPANS, "all")},
        "live": f"/pages/figures/{quote(name, safe='')}?{urlencode({'span': span, 'component': component})}",
        "figures": FIGURES,
        "container_heads": OF_CONTAINERS,
        "components": tables.list_components(link),
        "component": component,
        "whole": link(""),
        "instances": instances,
        "more": more,
        "containers": tables.list_containers(),
    }
