"""Nothing on the pages leaves its place: measured in a browser, with names that are long, of all scripts, or HTML."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from threading import Thread

import pytest
import uvicorn

from ouzel.connectors.backlog import Backlog
from ouzel.planner.topology import Component, Resources, Topology
from ouzel.runtime.checkpoints.manifest import Manifest, PartTimes, TaskFile, TaskFiles
from ouzel.runtime.checkpoints.store import CheckpointStore
from ouzel.runtime.cluster.submitted.registry import Registry
from ouzel.runtime.protocol.cluster.submitted import NAME_CHARACTERS_MAX, Condition, Submitted
from ouzel.runtime.protocol.messages import Event, Waiting
from ouzel.tracker.app import create_app
from ouzel.tracker.metrics.history import History
from ouzel.tracker.serve import listen
from ouzel.tracker.topologies.snapshot import TopologySnapshot
from ouzel.tracker.topologies.watching import TopologyWatcher
from tests.tracker.browser import CHROMIUM, Browser
from tests.tracker.pictured import NOW, Pictured, make_history, micros
from tests.tracker.snapshots import EVIL, reads

pytestmark = [
    pytest.mark.server,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed; write: make chromium"),
]

NAMES = (
    "W" * 64,
    "aggregate_by_country_and_hour_of_the_day_then_join_with_what_was_there_before",
    EVIL,
    "数え上げる" * 10,
    "يعد الكلمات التي جاءت من كل المدن",
    "👩‍👩‍👧‍👦" * 20,
    "e" + "\u0301" * 5 + " ́́" + "x" * 40,
)
"""Names of components."""

LARGE = 10**11
"""Bytes of a file of state."""

NAME = "w" * NAME_CHARACTERS_MAX

LEAVES = """((boxes) => {
  const found = [], near = (one) => `${one.tagName}.${one.getAttribute('class')} ${one.textContent.slice(0, 40)}`;
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const text = walker.currentNode, owner = text.parentElement;
    if (!text.data.trim() || owner.closest('title, desc, script, style, option')) continue;
    const box = owner.closest(boxes);
    if (!box) continue;
    const rect = (box.matches('g.box') ? box.querySelector('rect') : box).getBoundingClientRect();
    const clips = owner.closest('.clipped');
    const range = document.createRange();
    range.selectNodeContents(text);
    for (const part of clips ? [clips.getBoundingClientRect()] : range.getClientRects()) {
      if (part.width && (part.left < rect.left - 1 || part.right > rect.right + 1)) {
        found.push(`${near(owner)}: ${part.left}..${part.right} beyond ${rect.left}..${rect.right} of ${near(box)}`);
        break;
      }
    }
  }
  return found;
})(%s)"""
"""Texts that stick out of the box that they are in, to the left or the right."""

BOXES = "td, th, .frame, .facts div, .panel, .button, .box, .legend li, svg.chart, .verdicts li, .carried li, p, h1, h2, h3, li"

SCROLLS = """[...document.querySelectorAll('.wide:has(table)')].filter((one) => one.scrollWidth > one.clientWidth)
  .map((one) => `${one.getAttribute('aria-label')}: ${one.scrollWidth} > ${one.clientWidth}`)"""

WIDEST = """[...document.querySelectorAll('body *')].filter((one) => !one.closest('.wide, .log') || one.matches('.wide'))
  .filter((one) => one.getBoundingClientRect().right > innerWidth + 1).map((one) => one.tagName + '.' + one.className)"""


def make_long() -> Pictured:
    """A chain of components with these names, two tasks each."""
    parts = [
        Component(name, 2, reads(NAMES[place - 1]) if place else (), (), resources=Resources(0.5, 256))
        for place, name in enumerate(NAMES)
    ]
    events = (
        Event("bad-record", f"a record {EVIL} {'x' * 300}", 3, 3, at_us=micros(NOW)),
        Event("restarted", NAMES[3] * 10, 1, 5, at_us=micros(NOW)),
    )
    return Pictured(
        NAME, Topology(NAME, tuple(parts)), Condition.RUNNING, timedelta(days=400), 61_000.0, 1_234_567, events
    )


class LongWatcher(TopologyWatcher):
    """Sees one topology with long names and large figures."""

    def __init__(self, registry: Registry) -> None:
        super().__init__(registry)
        one = make_long()
        status = one.snapshot.status
        assert status is not None
        waiting = tuple(Waiting(name, name * 2, 0, "silent", 0, 0) for name in NAMES)
        backlogs = {name: (Backlog(name * 2, 10**12),) for name in NAMES}
        full = replace(status, waiting=waiting, backlogs=backlogs, watermarks=dict.fromkeys(NAMES, micros(NOW)))
        record = Submitted(NAME, f"{NAME}-1", 1_000, Condition.RUNNING, micros(NOW), True, reason=f"{EVIL} {'y' * 400}")
        self._one = replace(one.snapshot, status=replace(full, lag=10**12), record=record)
        self._history = make_history(one)
        registry.put(record)
        place = replace(self._one.job, home=registry.folder(NAME).run(f"{NAME}-1")).checkpoints
        home = registry.folder(NAME).run(f"{NAME}-1") / "checkpoints"
        home.mkdir(parents=True)
        with (home / "large").open("wb") as file:
            file.truncate(LARGE)  # it takes no room
        took = PartTimes(123_456_789, 123_456_789, 123_456_789)
        for number in range(3):
            tasks = tuple(
                TaskFiles(task.component, task.index, (TaskFile("large", LARGE, ""),), keys=10**12, took=took)
                for task in one.topology.tasks()
            )
            CheckpointStore(place).complete(Manifest(one.epoch + number, NAME, 0, micros(NOW) + 10**7 * number, tasks))

    def snapshots(self, *, with_processes: bool = True) -> Iterator[TopologySnapshot]:
        """Only that."""
        yield self._one

    def snapshot(self, name: str, *, with_processes: bool = True) -> TopologySnapshot:
        """That one."""
        return self._one

    def history(self, snapshot: TopologySnapshot) -> History:
        """Of all its tasks."""
        return self._history


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where its pages are."""
    registry = Registry(tmp_path_factory.mktemp("home"))
    app = create_app(registry)
    app.state.watcher = LongWatcher(registry)
    listener = listen("127.0.0.1", 0)
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning"))
    thread = Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    yield f"http://127.0.0.1:{listener.getsockname()[1]}/"
    server.should_exit = True
    thread.join(60)


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """One for all pages."""
    driven = Browser(tmp_path_factory.mktemp("browser"))
    yield driven
    driven.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1440])
@pytest.mark.parametrize(
    "path",
    [
        "",
        f"topology/{NAME}",
        f"topology/{NAME}/viz",
        f"topology/{NAME}/figures",
        f"topology/{NAME}/do/rescale",
        f"topology/{NAME}/do/restart",
    ],
)
def test_nothing_leaves_its_place(address: str, browser: Browser, path: str, width: int, scheme: str) -> None:
    browser.look(width, scheme)
    browser.show(address + path)
    assert not [told for told in browser.said if "Security" in told]
    assert browser.value("document.documentElement.scrollWidth") <= width, browser.value(WIDEST)
    assert browser.value(LEAVES % json.dumps(BOXES)) == []
    if width == 1440:
        assert browser.value(SCROLLS) == [], "a table of ours is cut off"


def test_the_measure_sees_a_text_that_leaves_its_box_and_a_table_that_is_cut(
    address: str, browser: Browser, tmp_path: Path
) -> None:
    browser.look(390, "light")
    box = "<p style='width:40px;white-space:nowrap'>a text that is too long for it</p>"
    wide = f"<div class=wide style='overflow-x:auto' aria-label=it>{box}<table style='width:3000px'><td>x</table></div>"
    (tmp_path / "bad.html").write_text(f"<!doctype html><body>{wide}")
    browser.show((tmp_path / "bad.html").as_uri())
    assert len(browser.value(LEAVES % json.dumps(BOXES))) == 1
    assert str(browser.value(SCROLLS)[0]).startswith("it: 3")
