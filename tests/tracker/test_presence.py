"""Commands know where the page of a topology is, as long as a server of pages lives."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ouzel.cli.submitted import say_page
from ouzel.tracker.presence import announce, find_page
from tests.servers.waiting import wait_until

HOLD = """
import sys, pathlib
from ouzel.tracker.presence import announce
with announce(pathlib.Path(sys.argv[1]), "http://127.0.0.1:1/"):
    print("holds", flush=True)
    sys.stdin.read()
"""


def test_a_page_is_found_while_its_server_lives(tmp_path: Path) -> None:
    assert find_page(tmp_path, "a b") == ""
    with announce(tmp_path, "http://127.0.0.1:8889/"):
        assert find_page(tmp_path, "a/b?") == "http://127.0.0.1:8889/topology/a%2Fb%3F"
    assert find_page(tmp_path, "a b") == ""


def test_one_that_is_killed_is_not_told_of_and_another_is(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "holds\n"
        assert find_page(tmp_path, "one") == "http://127.0.0.1:1/topology/one"
        other.kill()
    wait_until(lambda: find_page(tmp_path, "one") == "")
    with announce(tmp_path, "http://127.0.0.1:2/"):
        assert find_page(tmp_path, "one") == "http://127.0.0.1:2/topology/one"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_where_nothing_can_be_written_pages_are_served_and_not_told_of(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with announce(tmp_path, "http://127.0.0.1:8889/"):
        assert find_page(tmp_path, "one") == ""


def test_commands_say_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("OUZEL_HOME", str(tmp_path))
    say_page("one")
    assert capsys.readouterr().err == ""
    with announce(tmp_path, "http://127.0.0.1:8889/"):
        say_page("one")
    assert capsys.readouterr().err == "its page is http://127.0.0.1:8889/topology/one\n"
