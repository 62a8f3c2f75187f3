"""The pictures of docs/ui.md: what each shows is on its page. `pytest tests/tracker/test_pictures.py --update-golden` takes them anew."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Thread
from types import SimpleNamespace

import pytest
import uvicorn

from ouzel.cli.keeping import summarize
from ouzel.reconcile.report import page
from ouzel.runtime.cluster.submitted.registry import Registry
from ouzel.runtime.observe.reconciled import KeptReconciliations
from ouzel.tracker.app import create_app
from ouzel.tracker.pages import figure_pages, topology_pages, viz_pages
from ouzel.tracker.serve import listen
from tests.tracker.browser import CHROMIUM, Browser, Clip
from tests.tracker.pictured import NOW, NOW_S, PicturedWatcher, make_reconciliation, micros

pytestmark = pytest.mark.server

UI_PAGE = Path(__file__).parents[2] / "docs/ui.md"
FOLDER = UI_PAGE.parent / "pictures"
RECONCILIATION = f"{micros(NOW):016d}-1-00000000"

EACH_BYTES_MAX, ALL_BYTES_MAX = 80_000, 400_000
WIDTH = 1440

HEIGHT_SLACK = 0.06
"""Another machine's fonts may break a line elsewhere: a picture's height may differ by so much."""


@dataclass(frozen=True)
class Picture:
    """One picture.

    Attributes:
        name: of its files.
        path: of the page that it shows.
        begin: the first element that is in it.
        end: the last one.
        height: of the browser's window.
    """

    name: str
    path: str
    begin: str
    end: str
    height: int = 900

    @property
    def file(self) -> Path:
        """The picture."""
        return FOLDER / f"{self.name}.webp"

    @property
    def labels(self) -> Path:
        """The words that it shows."""
        return FOLDER / f"{self.name}.txt"


STEADY = ("--hide-scrollbars", "--disable-features=IsolateSandboxedIframes")
"""Scrollbars fade, and a frame in a process of its own is drawn later than the page around it: pictures would differ each time."""

ONE = "topology/payments"
PICTURES = (
    Picture("topologies", "", "h1", "#topologies"),
    Picture("topology", ONE, "#plan-head", ".frames"),
    Picture("figures", f"{ONE}/figures?component=payments", "h1", "section:nth-of-type(3)"),
    Picture("dashboards", f"{ONE}/viz", "h1", "section:nth-of-type(2)"),
    Picture("reconciliation", f"reconciliations/{RECONCILIATION}", "h1", "iframe", 630),
)

LABELS = "h1, h2, h3, thead th, tbody th, dt, figcaption, .boards .legend li, .spans a, .box .clipped, .box text, .frame li, "
LABELS += "#filter, iframe"
"""Elements whose words do not tell figures; and two that have none, but a name."""

READ_LABELS = """(() => {
  const clip = %s, said = [];
  for (const one of document.querySelectorAll(%s)) {
    const box = one.getBoundingClientRect(), top = box.top + scrollY;
    if (!box.width || top < clip.y || top + box.height > clip.y + clip.height || box.right > clip.x + clip.width) continue;
    const copy = one.cloneNode(true);
    for (const figure of copy.querySelectorAll('b')) figure.remove();
    said.push((copy.textContent || one.title || one.placeholder).replace(/\\s+/g, ' ').trim());
    const chart = one.parentElement.querySelector(':scope > svg.chart');
    if (one.matches('figcaption') && chart) said.push('  lines: ' + chart.querySelectorAll('.line[d^="M"]').length);
  }
  const plan = document.querySelector('section svg[aria-labelledby^="plan-title"]');
  if (plan) said.push('streams: ' + plan.querySelectorAll('.stream[d^="M"]').length);
  return said;
})()"""

TWO_FRAMES = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
"""After two all is drawn."""

FIND_CLIP = """(() => {
  const [first, last] = %s.map(one => document.querySelector(one).getBoundingClientRect());
  const main = document.querySelector('main').getBoundingClientRect();
  const y = Math.max(0, Math.floor(first.top + scrollY - 12));
  return { x: Math.floor(main.left), y, width: Math.ceil(main.width), height: Math.ceil(last.bottom + scrollY + 12) - y };
})()"""


FIND_FRAME = """(() => {
  const { width, height } = document.querySelector('iframe').getBoundingClientRect();
  return { x: 0, y: 0, width, height };
})()"""


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where the pages of the pictures' topologies are served, at the pictures' time."""
    registry = Registry(tmp_path_factory.mktemp("home"))
    found = make_reconciliation()
    summary = replace(summarize(found, RECONCILIATION, is_live=False), at_us=micros(NOW))
    KeptReconciliations(registry.home).keep(summary, page(found))
    app = create_app(registry)
    app.state.watcher = PicturedWatcher(registry)
    listener = listen("127.0.0.1", 0)
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning"))
    with pytest.MonkeyPatch.context() as patch:
        for pages in (topology_pages, viz_pages, figure_pages):
            patch.setattr(pages, "time", SimpleNamespace(time=lambda: NOW_S))
        thread = Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/"
        server.should_exit = True
        thread.join(60)


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """One for all pictures."""
    driven = Browser(tmp_path_factory.mktemp("browser"), *STEADY)
    yield driven
    driven.close()


def read_labels(browser: Browser, clip: Clip) -> list[str]:
    """The words of a page that are within a part of it."""
    found: list[str] = browser.value(READ_LABELS % (json.dumps(clip), json.dumps(LABELS)))
    return found


def read_report(browser: Browser, address: str, clip: Clip) -> list[str]:
    """The words of the report that its frame shows."""
    browser.show(f"{address}reconciliations/{RECONCILIATION}/report")
    return read_labels(browser, clip)


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed; write: make chromium")
@pytest.mark.parametrize("picture", PICTURES, ids=lambda one: one.name)
def test_a_picture_shows_what_its_page_has(
    picture: Picture, address: str, browser: Browser, update_golden: bool
) -> None:
    browser.look(WIDTH, "light", picture.height)
    browser.show(address + picture.path)
    browser.value(TWO_FRAMES)
    clip: Clip = browser.value(FIND_CLIP % json.dumps([picture.begin, picture.end]))
    labels = read_labels(browser, clip)
    taken = browser.picture(clip) if update_golden else b""
    if picture.end == "iframe":
        labels += read_report(browser, address, browser.value(FIND_FRAME))
    text = "\n".join(labels) + "\n"
    if update_golden:
        FOLDER.mkdir(exist_ok=True)
        picture.file.write_bytes(taken)
        picture.labels.write_text(text)
    assert text == picture.labels.read_text(), "pytest tests/tracker/test_pictures.py --update-golden takes it anew"
    browser.show(picture.file.as_uri())
    width, height = (browser.value(f"document.images[0].natural{side}") for side in ("Width", "Height"))
    assert (width, height) == (clip["width"], pytest.approx(clip["height"], rel=HEIGHT_SLACK))


def test_the_page_names_each_picture_and_says_what_is_to_be_seen() -> None:
    named = dict(reversed(found) for found in re.findall(r"!\[([^\]]*)\]\((pictures/[^)]+)\)", UI_PAGE.read_text()))
    assert sorted(named) == sorted(f"pictures/{one.file.name}" for one in PICTURES)
    for one in PICTURES:
        told = named[f"pictures/{one.file.name}"].casefold()
        shown = {label.casefold() for label in one.labels.read_text().splitlines()}
        assert len(told.split()) >= 8
        assert sum(label in told for label in shown) >= 2, f"{told}: none of {shown}"


def test_the_pictures_are_small_and_no_other_file_lies_beside_them() -> None:
    sizes = {one.file.name: one.file.stat().st_size for one in PICTURES}
    assert max(sizes.values()) < EACH_BYTES_MAX, sizes
    assert sum(sizes.values()) < ALL_BYTES_MAX, sizes
    assert {one.name for one in FOLDER.iterdir()} == {file.name for one in PICTURES for file in (one.file, one.labels)}
