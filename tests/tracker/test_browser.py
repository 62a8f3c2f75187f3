"""The pages in a browser, served by the command: nothing is refused by their own policy, and what is live stays live."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from bs4 import BeautifulSoup

from ouzel.runtime.observe.reconciled import KeptReconciliations
from ouzel.runtime.protocol.cluster.submitted import Condition
from ouzel.tracker.presence import find_page
from tests.observe.test_reconciled import summary
from tests.servers.waiting import wait_until
from tests.tracker.browser import CHROMIUM, Browser
from tests.tracker.conftest import Tracked

pytestmark = [
    pytest.mark.server,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed; write: make chromium"),
]


@pytest.fixture(scope="module")
def address(tracked: Tracked) -> Iterator[str]:
    """Where `ouzel ui` serves the topology, on a port that is free."""
    environment = {**os.environ, "OUZEL_HOME": str(tracked.registry.home)}
    command = [sys.executable, "-m", "ouzel", "ui", "--port", "0"]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        told = server.stdout.readline()
        yield re.findall(r"http://\S+", told)[0]
        server.send_signal(signal.SIGINT)
        assert server.wait(60) == 130


def show(address: str, folder: Path, width: int) -> tuple[BeautifulSoup, str]:
    """A page after 8 seconds of the browser's time, and what the browser had to say."""
    assert CHROMIUM is not None
    command = [
        CHROMIUM,
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        f"--user-data-dir={folder}",
        "--enable-logging=stderr",
    ]
    command += [f"--window-size={width},1200", "--virtual-time-budget=8000", "--dump-dom", address]
    done = subprocess.run(command, capture_output=True, text=True, timeout=200, check=True)
    return BeautifulSoup(done.stdout, "html.parser"), done.stderr


@pytest.mark.parametrize("width", [390, 1440])
def test_pages_stay_live_and_refuse_nothing_of_their_own(
    tracked: Tracked, address: str, tmp_path: Path, width: int
) -> None:
    one = f"topology/{tracked.name}"
    for path, row in (
        ("", "#topologies tbody tr"),
        (one, "#components tbody tr"),
        (f"{one}/do/kill", "form input[name=name]"),
        (f"{one}/do/rescale", "form input[type=number]"),
        (f"{one}/viz", "svg.chart .line"),
        (f"{one}/figures", "#instance-figures tbody tr"),
        (f"{one}/logs", "#logs tbody tr"),
        (f"{one}/logs/1/instance-1.log", "#follow"),
    ):
        page, said = show(address + path, tmp_path, width)
        assert page.select(row)
        assert page.select_one("#connection").text == ""  # type: ignore[union-attr]
        assert "Content Security Policy" not in said
        assert "CONSOLE" not in said


def test_the_server_says_where_its_pages_are(tracked: Tracked, address: str) -> None:
    assert find_page(tracked.registry.home, tracked.name) == f"{address}topology/{tracked.name}"


def test_a_report_is_shown_in_its_frame_and_runs_nothing(tracked: Tracked, address: str, browser: Browser) -> None:
    one = summary(1_700_000_000_000_000, tracked.name)
    script = "<script>document.title = 'ran'; parent.document.title = 'ran'</script>"
    report = f"<!doctype html><title>a report</title><style>p {{ color: rgb(1, 2, 3) }}</style><p>its text</p>{script}"
    KeptReconciliations(tracked.registry.home).keep(one, report)
    browser.show(f"{address}topology/{tracked.name}")
    assert browser.value("document.querySelector('.reconciled tbody a').textContent") == "2023-11-14 22:13:20"
    browser.show(f"{address}reconciliations/{one.id}/report")
    assert browser.value("getComputedStyle(document.querySelector('p')).color") == "rgb(1, 2, 3)"
    assert browser.value("document.title") == "a report"
    browser.show(f"{address}reconciliations/{one.id}")
    assert str(browser.value("document.title")).startswith(f"{tracked.name}, "), "all is loaded, and no script has run"
    assert browser.value("document.querySelector('iframe').contentDocument") is None, "it is of another origin"


def test_what_is_typed_into_the_filter_stands_in_the_address_and_hides_the_rest(
    tracked: Tracked, address: str, tmp_path: Path
) -> None:
    for typed, is_hidden in ((f"{tracked.name}%20running", False), (f"{tracked.name}%20failed", True)):
        page, _ = show(f"{address}#filter={typed}", tmp_path, 1440)
        (row,) = page.select("#topologies tbody tr")
        assert row.has_attr("hidden") == is_hidden


def test_the_kernel_tells_the_server_that_its_own_user_asks(tracked: Tracked, address: str) -> None:
    form = f"{address}topology/{tracked.name}/do/kill"
    code = BeautifulSoup(httpx2.get(form).text, "html.parser").select_one("input[name=code]")
    assert code is not None
    answer = httpx2.post(form, data={"code": str(code["value"]), "name": "not its name"})
    assert (answer.status_code, "is not its name" in answer.text) == (400, True)


def test_what_comes_to_a_log_is_sent_as_it_comes(tracked: Tracked, address: str) -> None:
    log = tracked.home / "container-1" / "followed.log"
    log.write_text("first\n")
    stream = f"{address}topology/{tracked.name}/logs/1/{log.name}/follow?offset=0"
    with httpx2.stream("GET", stream, timeout=60) as answer:
        lines = answer.iter_lines()
        assert [next(lines), next(lines)] == ["id: 6", 'data: {"text": "first\\n", "skipped": 0}']
        with log.open("a") as file:
            file.write("second\n")
        told = [next(lines), next(lines), next(lines)]
    assert told == ["", "id: 13", 'data: {"text": "second\\n", "skipped": 0}']


@pytest.fixture
def browser(tmp_path: Path) -> Iterator[Browser]:
    """One that is driven."""
    driven = Browser(tmp_path / "browser")
    yield driven
    driven.close()


def test_a_button_pauses_it_and_another_has_it_go_on(tracked: Tracked, address: str, browser: Browser) -> None:
    for key, wanted in (("pause", Condition.PAUSED), ("resume", Condition.RUNNING)):
        browser.show(f"{address}topology/{tracked.name}/do/{key}")
        browser.value("document.querySelector('form.confirm button').click()")
        wait_until(lambda: browser.value("location.pathname + location.hash") == f"/topology/{tracked.name}#actions")
        wait_until(lambda wanted=wanted: _condition(tracked) is wanted)
        wait_until(lambda: str(browser.value("document.querySelector('.carried li').textContent")).startswith("done"))
    assert browser.said == []


def _condition(tracked: Tracked) -> Condition:
    record = tracked.registry.find(tracked.name)
    assert record is not None
    return tracked.registry.condition(record)


def test_a_page_of_another_site_is_refused_in_a_browser(tracked: Tracked, address: str, browser: Browser) -> None:
    form = f"<form method=post action={address}topology/{tracked.name}/do/kill><input name=name value={tracked.name}></form>"
    browser.show(f"data:text/html,{form}")
    browser.value("document.querySelector('form').submit()")
    wait_until(lambda: "a page of another site asks for this" in str(browser.value("document.body.textContent")))
    assert _condition(tracked) is Condition.RUNNING


def test_a_log_is_followed_in_a_browser(tracked: Tracked, address: str, browser: Browser) -> None:
    log = tracked.home / "container-1" / "watched.log"
    log.write_text("first\n")
    browser.show(f"{address}topology/{tracked.name}/logs/1/{log.name}")
    browser.value("document.querySelector('#follow').click()")
    for number in range(3):
        with log.open("a") as file:
            file.write(f"<b>{number}</b>\n")
        text = "first\n" + "".join(f"<b>{one}</b>\n" for one in range(number + 1))
        wait_until(lambda text=text: browser.value("document.querySelector('#log').textContent") == text)
    assert browser.said == []


def test_pointing_at_a_component_shows_its_lines_of_the_query(tracked: Tracked, address: str, browser: Browser) -> None:
    browser.show(f"{address}topology/{tracked.name}")
    lit = "[...document.querySelectorAll('#query li.lit')].map(line => line.textContent).join('|')"
    over = "document.querySelectorAll('.box')[%d].dispatchEvent(new PointerEvent('pointerover', { bubbles: true }))"
    assert browser.value(lit) == ""
    assert str(browser.value(f"{over % 0}; {lit}")).startswith("CREATE TABLE lines")
    assert str(browser.value(f"{over % 1}; {lit}")).startswith("SELECT n % 2 AS odd")
    assert browser.value("document.querySelectorAll('.box')[1].href.baseVal").endswith(
        "/figures?component=count_by_key"
    )  # type: ignore[attr-defined]
    assert "Aggregate COUNT(*)" in str(
        browser.value("document.querySelectorAll('.box')[1].querySelector('title').textContent")
    )


def test_one_cursor_goes_over_all_charts_and_a_drag_zooms(tracked: Tracked, address: str, browser: Browser) -> None:
    browser.show(f"{address}topology/{tracked.name}/viz?span=10m")
    charts = browser.value("document.querySelectorAll('.chart').length")

    def at_once(*steps: str) -> object:
        """What the last of these gives: the charts are replaced between two calls, perhaps."""
        find = "const chart = document.querySelector('.chart'); const box = chart.getBoundingClientRect();"
        return browser.value(f"{{ {find} {'; '.join(steps)} }}")

    def pointer(kind: str, share: float) -> str:
        at = f"clientX: box.left + box.width * {share}, clientY: box.top + 20"
        return f"chart.dispatchEvent(new PointerEvent('{kind}', {{ bubbles: true, button: 0, {at} }}))"

    cursors = """document.querySelectorAll('.cursor:not([d=""])').length"""
    assert at_once(pointer("pointermove", 0.5), cursors) == charts > 10
    moment = str(at_once(pointer("pointermove", 0.5), "document.querySelector('#moment').textContent"))
    assert moment.startswith("At ")
    at_once(pointer("pointerdown", 0.4), pointer("pointerup", 0.6))
    wait_until(lambda: "from=" in str(browser.value("location.search")))
    wait_until(lambda: browser.value("document.querySelectorAll('.chart').length") == charts)
    assert browser.said == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1440])
def test_no_page_is_wider_than_its_window(
    tracked: Tracked, address: str, browser: Browser, width: int, scheme: str
) -> None:
    browser.look(width, scheme)
    one = f"topology/{tracked.name}"
    for path in (
        "",
        one,
        f"{one}/viz",
        f"{one}/figures",
        f"{one}/logs",
        f"{one}/logs/1/instance-1.log",
        f"{one}/do/rescale",
        f"{one}/do/kill",
        "reconciliations",
    ):
        browser.show(address + path)
        assert browser.value("document.documentElement.scrollWidth") <= width, path
        ground, ink = (
            browser.value(f"getComputedStyle(document.body).{what}") for what in ("backgroundColor", "color")
        )
        assert (ground == "rgb(255, 255, 255)") == (scheme == "light")
        assert ground != ink
