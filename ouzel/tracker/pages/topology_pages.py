"""The pages: HTML made here, with everything that comes from elsewhere escaped, and no request to any other host."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, StreamingResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape
from starlette.responses import Response

from ouzel.compiler.written import WrittenQuery
from ouzel.errors import OuzelError
from ouzel.runtime.cluster.submitted.asking import ToldFiles, list_kept_state, list_samples
from ouzel.runtime.cluster.submitted.registry import Registry
from ouzel.runtime.observe.reconciled import KeptReconciliations
from ouzel.runtime.protocol.cluster.submitted import Condition
from ouzel.runtime.protocol.messages import Event
from ouzel.tracker import words
from ouzel.tracker.acting.actions import fitting_actions
from ouzel.tracker.acting.carrying import ActionRunner
from ouzel.tracker.alerts.memory_file import describe_alert_memory
from ouzel.tracker.api.routes import AppWatcher
from ouzel.tracker.health.checkup import check_health
from ouzel.tracker.health.telling import outcome_text, read_health_log
from ouzel.tracker.metrics.history import History
from ouzel.tracker.pages import views
from ouzel.tracker.pages.marks import mark_components
from ouzel.tracker.topologies.asked import describe_asks, describe_unreadable
from ouzel.tracker.topologies.epochs import EpochSummary, epoch_text, list_epochs
from ouzel.tracker.topologies.happened import UNREMARKABLE, fold_exceptions
from ouzel.tracker.topologies.kept_state import fold_states
from ouzel.tracker.topologies.results import ResultTail, read_tail
from ouzel.tracker.topologies.snapshot import TopologySnapshot
from ouzel.tracker.topologies.state_sizes import GROWTH_SPANS
from ouzel.tracker.topologies.traces import list_traces
from ouzel.tracker.topologies.watching import TopologyWatcher

HERE = Path(__file__).parent

RECONCILIATIONS_SHOWN = 10

HEALTH_SHOWN = 20
"""So many of the latest things that were done by itself are shown."""

page_router = APIRouter(include_in_schema=False)

templates = Environment(
    loader=FileSystemLoader(HERE / "templates"),
    autoescape=select_autoescape(default=True),
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
templates.filters["time_text"] = words.time_text
templates.filters["count_text"] = words.count_text
templates.filters["outcome_text"] = outcome_text


STANDING = "<!-- how it stands -->"
"""Where in the frame of a topology's page the parts go that are sent one by one. Names and queries are escaped, so none can be this."""


def render(template: str, status: int = 200, /, **values: Any) -> HTMLResponse:
    """A page, or a part of one."""
    return HTMLResponse(render_text(template, **values), status)


def render_text(template: str, /, **values: Any) -> str:
    """The same as text."""
    return templates.get_template(template).render(**values)


def show_found(watcher: TopologyWatcher, name: str, show: Callable[[TopologySnapshot], Response]) -> Response:
    """What is shown of a topology, or a page that says why it is not there."""
    try:
        snapshot = watcher.snapshot(name)
    except OuzelError as error:
        return render("problem.html", 404, title="Not found", problem=str(error))
    return show(snapshot)


@page_router.get("/", response_class=HTMLResponse)
def list_page(watcher: AppWatcher) -> Response:
    """The list of all topologies."""
    return render("list.html", rows=_rows(watcher), problems=describe_damage(watcher.registry))


@page_router.get("/pages/rows", response_class=HTMLResponse)
def list_rows(watcher: AppWatcher) -> Response:
    """The lines of that list, as they are now."""
    return render("rows.html", rows=_rows(watcher))


@page_router.get("/topology/{name}", response_class=HTMLResponse)
def topology_page(request: Request, watcher: AppWatcher, name: str) -> Response:
    """The page of one topology. Its head is sent at once, then what stands on top: of a thousand instances the rest takes a while."""
    try:
        snapshot = watcher.snapshot(name, with_processes=False)
    except OuzelError as error:
        return _show_problem(request, watcher, name, str(error))
    return StreamingResponse(_make_page(request, watcher, snapshot), media_type="text/html")


@page_router.get("/pages/topology/{name}", response_class=HTMLResponse)
def topology_part(request: Request, watcher: AppWatcher, name: str) -> Response:
    """What changes on that page, as it is now."""
    try:
        standing = _Standing(request, watcher, watcher.snapshot(name))
    except OuzelError as error:
        return _show_problem(request, watcher, name, str(error))
    return render("standing.html", **standing.describe_top(), **standing.describe_rest())


def describe_damage(registry: Registry) -> list[str]:
    """What is damaged of what is kept for all topologies, a sentence each; what the list cannot show."""
    reconciled = KeptReconciliations(registry.home).describe_damaged()
    return [*registry.find_damaged().values(), *describe_alert_memory(registry.home), *reconciled]


def _rows(watcher: TopologyWatcher) -> list[views.TopologyRow]:
    rows, now_s = [], time.time()
    for one in watcher.snapshots(with_processes=False):
        # Rates are all that a line needs of its history, and what does not run has none.
        history = watcher.history(one) if isinstance(one, TopologySnapshot) and one.is_alive else None
        epoch = (
            epoch_text(list_epochs(watcher.registry, one, most=1))
            if isinstance(one, TopologySnapshot)
            else words.NOTHING
        )
        rows.append(views.topology_row(one, history, epoch, now_s))
    return rows


def _make_page(request: Request, watcher: TopologyWatcher, known: TopologySnapshot) -> Iterator[str]:
    """The page in parts. Where one cannot be made the page says so, for its status is sent; a fault of ours is in the log, too."""
    written = watcher.read_written(known)
    frame = render_text("topology_frame.html", one=known, query=_list_lines(written))
    above, _, below = frame.partition(STANDING)
    yield above
    try:
        standing = _Standing(request, watcher, watcher.snapshot(known.name))
        top = standing.describe_top()
        yield render_text("facts.html", **top)
        yield render_text("parts.html", **top, **standing.describe_rest())
    except OuzelError as error:
        yield render_text("cut.html", problem=error)
    except Exception as error:
        yield render_text("cut.html", problem=f"{type(error).__name__}: {error}") + below
        raise
    yield below


class _Standing:
    """How a topology stands, as its page shows it: what is on top, which is found soon, and the rest."""

    def __init__(self, request: Request, watcher: TopologyWatcher, snapshot: TopologySnapshot) -> None:
        self._request, self._watcher, self._snapshot, self._now_s = request, watcher, snapshot, time.time()
        problems = list(snapshot.problems)
        self._epochs = list_epochs(watcher.registry, snapshot, problems=problems)
        self._history, self._told = watcher.history(snapshot), ToldFiles(snapshot.job)
        self._problems = [*problems, *self._history.problems]

    def describe_top(self) -> dict[str, Any]:
        """State, rates, problems, and what can be done."""
        top = describe_top(self._snapshot, self._history, self._epochs, self._told, self._now_s)
        top["problems"] = [*self._problems, *top["problems"]]
        return top | describe_actions(self._request, self._snapshot.name, self._snapshot.condition)

    def describe_rest(self) -> dict[str, Any]:
        """All below."""
        one, registry = self._snapshot, self._watcher.registry
        tail, written = read_tail(registry, one), self._watcher.read_written(one)
        policy = one.job.topology.settings.health_policy
        return describe_rest(one, self._history, self._epochs, self._told, tail, self._now_s, written) | {
            "health_log": read_health_log(registry, one.name, policy, HEALTH_SHOWN),
            "reconciliations": KeptReconciliations(registry.home).list_newest({one.name, one.job.topology.name})[
                :RECONCILIATIONS_SHOWN
            ],
        }


def _show_problem(request: Request, watcher: TopologyWatcher, name: str, problem: str) -> Response:
    """The page of a topology that is not there, or of which only the record can be read: that can be removed, at least."""
    with contextlib.suppress(OuzelError):
        if (record := watcher.registry.find(name)) is not None:
            can = describe_actions(request, name, watcher.registry.condition(record))
            return render("broken.html", 500, name=name, problem=problem, **can)
    return render("problem.html", 404, title="Not found", problem=problem)


def describe_actions(request: Request, name: str, condition: Condition) -> dict[str, Any]:
    """What can be done to a topology, and what was done; nothing if this server only reads."""
    runner: ActionRunner | None = request.app.state.runner
    if runner is None:
        return {"actions": (), "done": (), "done_problem": ""}
    can: dict[str, Any] = {"actions": tuple(fitting_actions(name, condition)), "done": (), "done_problem": ""}
    try:
        return can | {"done": tuple(runner.latest(name))}
    except OuzelError as error:
        return can | {"done_problem": str(error)}


def describe_page(
    snapshot: TopologySnapshot,
    history: History,
    epochs: list[EpochSummary],
    tail: ResultTail,
    now_s: float,
    written: WrittenQuery | None = None,
) -> dict[str, Any]:
    """What the page of a topology shows that only reads."""
    told = ToldFiles(snapshot.job)
    top = describe_top(snapshot, history, epochs, told, now_s)
    return top | describe_rest(snapshot, history, epochs, told, tail, now_s, written)


def describe_top(
    snapshot: TopologySnapshot, history: History, epochs: list[EpochSummary], told: ToldFiles, now_s: float
) -> dict[str, Any]:
    """What stands on top of it."""
    return {
        "one": snapshot,
        "row": views.topology_row(snapshot, history, epoch_text(epochs), now_s),
        "old": views.old_text(snapshot),
        "problems": describe_unreadable(told),
        "asks": describe_asks(told, now_s) if snapshot.is_alive else [],
        "actions": (),
        "done": (),
        "done_problem": "",
    }


def describe_rest(
    snapshot: TopologySnapshot,
    history: History,
    epochs: list[EpochSummary],
    told: ToldFiles,
    tail: ResultTail,
    now_s: float,
    written: WrittenQuery | None,
) -> dict[str, Any]:
    """What stands below."""
    return {
        "marks": mark_components(snapshot, history, written, int(now_s)),
        "query": _list_lines(written),
        "components": views.component_rows(snapshot, history, now_s),
        "drawing": views.drawing_of(snapshot),
        "frames": views.frames(snapshot),
        "happened": fold_exceptions(snapshot),
        "times": views.event_times(snapshot.status),
        "waits": views.waits(snapshot.status),
        "backlogs": views.backlogs(snapshot.status),
        "lag_age": views.lag_age_text(snapshot.status),
        "notes": [event.text for event in _events(snapshot) if event.kind in UNREMARKABLE],
        "epochs": views.epoch_rows(epochs),
        "state": views.state_rows(epochs),
        "verdicts": check_health(snapshot, history, epochs, now_s),
        "health_log": None,
        "reconciliations": (),
        "tail": tail,
        "samples": list_samples(told),
        "traces": list_traces(snapshot.job),
        "operators": views.operator_rows(snapshot, history, now_s),
        "growth_spans": list(GROWTH_SPANS),
        "kept": fold_states(list_kept_state(told)),
        "spans": list(views.SPANS),
    }


def _list_lines(written: WrittenQuery | None) -> list[str]:
    return written.text.splitlines() if written else []


def _events(snapshot: TopologySnapshot) -> tuple[Event, ...]:
    return snapshot.status.events if snapshot.status else ()


async def not_found(request: Request, error: Exception) -> Response:
    """The answer to an address that is none."""
    return render("problem.html", 404, title="Not found", problem=f"there is nothing at {request.url.path}")
