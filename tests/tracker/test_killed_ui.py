"""`ouzel ui` is killed amid all that it shows and does, and started again: then it shows what one shows that has lived all the time."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from bs4 import BeautifulSoup, Tag

from ouzel.runtime.process.asks import Ask, AskKind, ask_path, write_ask
from ouzel.runtime.protocol.cluster.submitted import Condition
from tests.cli.test_submitted import Place, place
from tests.servers.process import free_port
from tests.servers.waiting import wait_until
from tests.tracker.browser import CHROMIUM, Browser

__all__ = ["place"]
pytestmark = [pytest.mark.server, pytest.mark.slow, pytest.mark.timeout(900)]

ROWS = 40

ALERTS = """
[[alert]]
name = "paused"
when = "state is paused"
tell = ["file"]

[[alert]]
name = "silenced"
when = "state is running"
tell = ["file"]

[receiver.file]
command = {command}

[[silence]]
alert = "silenced"
until = 2126-01-01T00:00:00Z
"""
TELL = "import sys; open(sys.argv[1], 'a').write(sys.stdin.read().replace(chr(10), ' ') + chr(10))"


class Command:
    """`ouzel` with these words, over a home: killed and started again as often as a test likes."""

    def __init__(self, home: Path, *words: str) -> None:
        self._words, self._environment = words, {**os.environ, "OUZEL_HOME": str(home)}
        self._process: subprocess.Popen[str] | None = None

    def start(self, *more: str) -> str:
        """Start it; the first line that it says, if it is a server."""
        command = [sys.executable, "-m", "ouzel", *self._words, *more]
        self._process = subprocess.Popen(command, env=self._environment, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        return self._process.stdout.readline() if more else ""

    def kill(self) -> None:
        """End it without a word."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            assert self._process.stdout is not None
            self._process.stdout.close()
            self._process = None


class Pages:
    """One `ouzel ui`."""

    def __init__(self, home: Path) -> None:
        self.command = Command(home, "ui")
        self.address = ""

    def start(self, port: int) -> None:
        """Serve there."""
        self.address = re.findall(r"http://\S+", self.command.start("--port", str(port)))[0]

    def again(self, port: int) -> None:
        """Kill it, and start it again."""
        self.command.kill()
        self.start(port)

    def page(self, path: str) -> BeautifulSoup:
        """A page, or a part of one."""
        answer = httpx2.get(self.address + path, timeout=60)
        assert answer.status_code == 200, answer.text
        return BeautifulSoup(answer.text, "html.parser")

    def post(self, name: str, key: str, **fields: str) -> None:
        """Confirm an action."""
        answer = self.send(name, key, self.code(name, key), **fields)
        assert answer.status_code == 303, answer.text

    def code(self, name: str, key: str) -> str:
        """What the form of an action carries."""
        field = self.page(f"topology/{name}/do/{key}").select_one("input[name=code]")
        assert field is not None
        return str(field["value"])

    def send(self, name: str, key: str, code: str, **fields: str) -> Any:
        """Send a form."""
        return httpx2.post(f"{self.address}topology/{name}/do/{key}", data={"code": code, **fields}, timeout=60)

    def seen(self, name: str) -> dict[str, list[str]]:
        """What the page of a topology shows that does not change by itself while nothing comes."""
        page = self.page(f"topology/{name}")
        stays = {
            "state": ".facts div:nth-of-type(-n+3), .facts div:last-of-type",
            "asked": ".asked",
            "done": ".carried li",
            "plans": ".box .clipped, .box text, .frame li",
            "exceptions": "#happened td, #happened th",
            "results": "#results td",
            "samples": ".samples td",
            "kept": "#kept th, #kept td:not(:last-child)",
            "times": "[aria-labelledby=time-head] td",
        }
        return {what: _texts(page, where) for what, where in stays.items()}

    def done(self, name: str) -> list[str]:
        """How its actions stand, the latest first."""
        return [text.split(",")[0] for text in self.seen(name)["done"]]

    def measured(self, name: str, component: str, since_s: int, until_s: int) -> tuple[Any, Any]:
        """Its counts over all time, and its history over a span that is over."""
        whose = {"cluster": "local", "environ": "default", "topology": name, "component": component}
        metric = "__execute-count/default"
        counts = httpx2.get(f"{self.address}topologies/metrics", params={**whose, "metricname": metric, "interval": -1})
        span = {"starttime": since_s, "endtime": until_s, "metricname": metric}
        line = httpx2.get(f"{self.address}topologies/metricstimeline", params={**whose, **span})
        assert (counts.status_code, line.status_code) == (200, 200), counts.text + line.text
        return counts.json()["metrics"], line.json()["timeline"]


def _texts(page: BeautifulSoup | Tag, where: str) -> list[str]:
    return [" ".join(found.text.split()) for found in page.select(where)]


@pytest.fixture
def living(place: Place) -> Iterator[Pages]:
    """One that is never killed: it says how things are."""
    pages = Pages(place.home)
    pages.start(free_port())
    yield pages
    pages.command.kill()


@pytest.fixture
def killed(place: Place) -> Iterator[Pages]:
    """One that is killed."""
    pages = Pages(place.home)
    pages.start(free_port())
    yield pages
    pages.command.kill()


def same(killed: Pages, living: Pages, name: str) -> None:
    """Both show the same of a topology."""
    wait_until(lambda: killed.seen(name) == living.seen(name), told=lambda: (killed.seen(name), living.seen(name)))


def counts(place: Place) -> dict[int, int]:
    """The last count of each key."""
    return {row["odd"]: row["seen"] for row in place.rows("counted")}


def submit_counted(place: Place) -> None:
    """A count by key that makes epochs; all rows are counted."""
    place.append(*range(ROWS))
    place.told("submit", "--set", "checkpoint.interval.ms=1000", place.root / "counted.sql")
    wait_until(lambda: counts(place) == {0: ROWS // 2, 1: ROWS // 2})


def shell_at_work(home: Path, name: str) -> int:
    """The shell of the action that is at work on a topology."""
    held = sorted((home / "actions").glob(f"*.{name}"))[-1]
    pids = [int(path.name) for path in Path("/proc").glob("[0-9]*") if _is_shell_of(path, held)]
    return min(pids)


def _is_shell_of(process: Path, folder: Path) -> bool:
    try:
        words = (process / "cmdline").read_bytes().split(b"\0")
    except OSError:
        return False
    return words[0] == b"/bin/sh" and os.fsencode(folder) in words


def test_history_levels_and_samples_are_as_if_it_had_never_died(place: Place, living: Pages, killed: Pages) -> None:
    submit_counted(place)
    (lines,) = (text for text in _texts(living.page("topology/counted"), ".box.spout .clipped")[:1])
    began_s = int(time.time())

    def is_measured() -> bool:
        counts = living.measured("counted", lines, began_s - 600, began_s + 600)[0]
        return sum(int(count) for count in counts.get("__execute-count/default", {}).values()) == ROWS

    wait_until(is_measured)
    span = (began_s - 600, int(time.time()) // 60 * 60)
    killed.post("counted", "log-level", part="", level="debug", minutes="10")
    killed.again(free_port())
    wait_until(lambda: killed.done("counted") == ["done Log level"])
    killed.post("counted", "sample", part="", minutes="10")
    killed.again(int(killed.address.rstrip("/").rpartition(":")[2]))
    wait_until(lambda: killed.done("counted")[0] == "done Sample rows")
    assert len(killed.seen("counted")["asked"]) == 2
    place.append(ROWS, ROWS + 1)
    wait_until(lambda: living.seen("counted")["samples"] and living.seen("counted")["kept"])
    killed.again(free_port())
    same(killed, living, "counted")
    assert killed.seen("counted")["samples"]
    assert killed.measured("counted", lines, *span)[1] == living.measured("counted", lines, *span)[1]
    killed.command.kill()
    log = next((place.home / "topologies").rglob("instance-1.log"))
    write_ask(ask_path(log.parent, AskKind.LOG_LEVEL, 1), Ask("error", time.time_ns() // 1_000 + 3_000_000))
    wait_until(lambda: log.read_text().count("log level: as before") == 1)
    killed.start(free_port())
    same(killed, living, "counted")
    levels = [line for line in log.read_text().splitlines() if line.startswith("log level: ")]
    assert levels == ["log level: debug", "log level: error", "log level: as before"]
    assert any("log level debug" in text for text in killed.seen("counted")["asked"]), "the other tasks' goes on"


def test_a_rescale_that_is_under_way_goes_on_and_is_shown_to_its_end(
    place: Place, living: Pages, killed: Pages
) -> None:
    submit_counted(place)
    (bolt,) = _texts(living.page("topology/counted/do/rescale"), "tbody th")[1:2]
    killed.post("counted", "rescale", **{f"tasks.{bolt}": "2", f"had.{bolt}": "1"})
    shell = shell_at_work(place.home, "counted")
    os.killpg(shell, signal.SIGSTOP)
    try:
        killed.again(free_port())
        assert killed.done("counted") == living.done("counted") == ["at work Rescale"]
        killed.again(free_port())
        assert killed.done("counted") == ["at work Rescale"]
    finally:
        os.killpg(shell, signal.SIGCONT)
    killed.again(free_port())
    wait_until(lambda: killed.done("counted") != ["at work Rescale"])
    assert killed.done("counted") == ["done Rescale"], killed.seen("counted")["done"]
    place.append(*range(ROWS))
    wait_until(lambda: counts(place) == {0: ROWS, 1: ROWS})
    same(killed, living, "counted")
    assert f"{bolt}[1]" in killed.seen("counted")["plans"]


def test_a_pause_an_alert_and_a_silence_are_told_once_whoever_dies(place: Place, living: Pages, killed: Pages) -> None:
    heard = place.root / "heard"
    command = json.dumps([sys.executable, "-c", TELL, str(heard)])
    (place.root / "alerts.toml").write_text(ALERTS.format(command=command))
    place.append(1)
    place.told("submit", place.root / "followed.sql")
    wait_until(lambda: place.twice() == [2])
    watch = Command(place.home, "alerts", "--every", "0.2", str(place.root / "alerts.toml"))

    kept = place.home / "alerts.json"

    def told() -> list[str]:
        lines = heard.read_text().splitlines() if heard.exists() else []
        return [json.loads(line)["state"] for line in lines if json.loads(line)["alert"] == "paused"]

    def are_told(*states: str) -> bool:
        """And that is kept: who dies between the two tells it once more, rather than not at all."""
        return told() == list(states) and not json.loads(kept.read_text())["waiting"]

    try:
        watch.start()
        form = killed.code("followed", "resume")
        killed.post("followed", "pause")
        killed.again(free_port())
        wait_until(lambda: are_told("firing"))
        watch.kill()
        watch.start()
        wait_until(lambda: killed.done("followed") == ["done Pause"])
        killed.again(free_port())
        same(killed, living, "followed")
        assert place.condition("followed") is Condition.PAUSED
        watch.kill()
        answer = killed.send("followed", "resume", form)  # it was made by a server that is no more
        assert answer.status_code == 303, answer.text
        killed.again(free_port())
        wait_until(lambda: place.condition("followed") is Condition.RUNNING)
        watch.start()
        wait_until(lambda: are_told("firing", "resolved"))
        for _ in range(3):
            watch.kill()
            before = kept.stat().st_mtime_ns
            watch.start()
            wait_until(lambda before=before: kept.stat().st_mtime_ns != before)
        assert told() == ["firing", "resolved"]
        assert "silenced" not in heard.read_text()
        assert place.ask("alerts", "--once", place.root / "alerts.toml").exit_code != 0, "one is at work, only one"
        same(killed, living, "followed")
    finally:
        watch.kill()


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed; write: make chromium")
def test_a_page_that_is_open_goes_on_when_its_server_is_there_again(place: Place, killed: Pages) -> None:
    place.append(1)
    place.told("submit", place.root / "followed.sql")
    wait_until(lambda: place.twice() == [2])
    log = next((place.home / "topologies").rglob("instance-1.log")).with_name("watched.log")
    log.write_text("0\n")
    port = int(killed.address.rstrip("/").rpartition(":")[2])
    browsers = [Browser(place.root / f"browser{number}") for number in range(2)]
    try:
        follower, looker = browsers
        follower.show(f"{killed.address}topology/followed/logs/{log.parent.name.removeprefix('container-')}/{log.name}")
        follower.value("document.querySelector('#follow').click()")
        looker.show(f"{killed.address}topology/followed")
        text = "0\n"
        for number in range(1, 4):
            killed.command.kill()
            wait_until(lambda: "no answer" in str(looker.value("document.querySelector('#connection').textContent")))
            with log.open("a") as file:
                file.write(f"{number}\n")
            text += f"{number}\n"
            killed.start(port)
            wait_until(lambda text=text: follower.value("document.querySelector('#log').textContent") == text)
            wait_until(lambda: looker.value("document.querySelector('#connection').textContent") == "")
        assert not looker.value("document.querySelector('.trouble')")
    finally:
        for browser in browsers:
            browser.close()
