"""The pages in a browser, served by the command: nothing is refused by their own policy, and what is live stays live."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from bs4 import BeautifulSoup

from tests.tracker.conftest import Tracked

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")

pytestmark = [
    pytest.mark.server,
    pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed; write: make chromium"),
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
    assert BROWSER is not None
    command = [
        BROWSER,
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
        (f"{one}/logs", "#logs tbody tr"),
        (f"{one}/logs/1/instance-1.log", "#follow"),
    ):
        page, said = show(address + path, tmp_path, width)
        assert page.select(row)
        assert page.select_one("#connection").text == ""  # type: ignore[union-attr]
        assert "Content Security Policy" not in said
        assert "CONSOLE" not in said


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
