"""What is kept of actions: it outlives the server that began them, two servers share it, and what is damaged is said."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from fastapi.testclient import TestClient

from ouzel.runtime.cluster.submitted.registry import Registry
from ouzel.runtime.protocol.cluster.submitted import Condition, Submitted
from ouzel.tracker.acting.action_files import CUT_OFF, KEPT, ActionFiles, Carried
from ouzel.tracker.acting.actions import ActionRefused
from ouzel.tracker.acting.carrying import ActionRunner
from ouzel.tracker.acting.form_codes import FormCodes
from ouzel.tracker.app import create_app
from tests.servers.waiting import wait_until

WAITS = "import fcntl, os, sys; print(os.getppid(), flush=True); fcntl.flock(open(sys.argv[1]), fcntl.LOCK_EX); print('was let go')"
"""A command that waits until a file is let go; its shell is its parent."""

SERVER = """
import sys
from pathlib import Path
from ouzel.tracker.acting.carrying import ActionRunner

ActionRunner(Path(sys.argv[1]), (sys.executable, "-c", sys.argv[2])).start("made", "Rescale", [sys.argv[3]])
print("begun", flush=True)
sys.stdin.read()
"""


def latest(home: Path) -> Carried:
    """The latest action as a server that begins now knows it."""
    return ActionRunner(home).latest("made")[0]


def begin_and_kill(home: Path, gate: Path) -> None:
    """Have a server begin an action that waits for the gate, and kill it."""
    command = [sys.executable, "-c", SERVER, str(home), WAITS, str(gate)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        assert server.stdout.readline() == "begun\n"
        server.kill()


def shell_of(home: Path) -> int:
    """The shell of the only action that is at work, when its command has begun."""
    said = home / "actions" / "00000001.made" / "said"
    wait_until(lambda: b"\n" in said.read_bytes())
    return int(said.read_bytes().partition(b"\n")[0])


def test_an_action_goes_on_when_its_server_is_killed_and_the_next_one_knows_how_it_ended(tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    with gate.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        begin_and_kill(tmp_path, gate)
        assert (latest(tmp_path).title, latest(tmp_path).state) == ("Rescale", "at work")
    wait_until(lambda: latest(tmp_path).state == "done")
    assert latest(tmp_path).said.endswith("was let go")


def test_one_whose_processes_are_killed_is_cut_off_and_that_is_said(tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    with gate.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        begin_and_kill(tmp_path, gate)
        os.killpg(shell_of(tmp_path), signal.SIGKILL)
        wait_until(lambda: latest(tmp_path).state == "cut off")
    assert latest(tmp_path).said == CUT_OFF


def test_two_servers_show_the_same_and_number_actions_together(tmp_path: Path) -> None:
    one, other = (ActionRunner(tmp_path, ("true",)) for _ in range(2))
    for runner, title in ((one, "Pause"), (other, "Resume"), (one, "Stop")):
        runner.run("made", title, [])
    one.run("made.2", "Stop", [])
    assert one.latest("made") == other.latest("made")
    assert [(each.number, each.title) for each in one.latest("made")] == [(3, "Stop"), (2, "Resume"), (1, "Pause")]
    assert [each.number for each in other.latest("made.2")] == [4]


def test_so_many_are_kept_and_none_goes_that_is_at_work(tmp_path: Path) -> None:
    files = ActionFiles(tmp_path)
    with files.locked():
        _, held = files.add("made", "the first", 0)
        for number in range(KEPT + 5):
            os.close(files.add("other", str(number), 0)[1])
    try:
        assert [one.title for one in files.latest("made", 9)] == ["the first"]
        assert len(list(files.path.iterdir())) == KEPT + 1
    finally:
        os.close(held)


def test_a_server_that_is_killed_before_its_action_has_begun_leaves_none(tmp_path: Path) -> None:
    (tmp_path / "actions" / ".new").mkdir(parents=True)
    (tmp_path / "actions" / ".new" / "asked.json").write_text("{")
    runner = ActionRunner(tmp_path, ("true",))
    assert runner.latest("made") == []
    runner.run("made", "Pause", [])
    assert [(one.title, one.state) for one in runner.latest("made")] == [("Pause", "done")]


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"title": "x"}', "\x00" * 50, "[" * 100_000])
def test_what_was_asked_for_is_damaged(tmp_path: Path, text: str) -> None:
    ActionRunner(tmp_path, ("echo", "its words")).run("made", "Pause", [])
    path = tmp_path / "actions" / "00000001.made" / "asked.json"
    path.write_text(text)
    one = latest(tmp_path)
    assert (one.title, one.state) == ("An action", "done")
    assert one.said.startswith(f"its words\nwhat it was cannot be read in {path}: ")
    assert one.began_us > 0


@pytest.mark.parametrize("text", ["", "x", "\x00"])
def test_how_it_ended_is_damaged(tmp_path: Path, text: str) -> None:
    ActionRunner(tmp_path, ("true",)).run("made", "Pause", [])
    folder = tmp_path / "actions" / "00000001.made"
    (folder / "code").write_text(text)
    one = latest(tmp_path)
    assert one.state == "cut off"
    assert one.said.startswith(f"how it ended cannot be read in {folder}: ")


def test_where_nothing_can_be_kept_nothing_is_begun_and_the_page_says_so(tmp_path: Path) -> None:
    registry = Registry(tmp_path / "home")
    registry.put(Submitted("made", "made-1", 1, Condition.RUNNING, 0, True))
    path = registry.home / "actions"
    path.write_text("no folder")
    with pytest.raises(ActionRefused, match=f"not be kept in {path}: File exists; look there, or use `ouzel`"):
        ActionRunner(registry.home).start("made", "Pause", [])
    client = TestClient(create_app(registry), base_url="http://localhost")
    page = BeautifulSoup(client.get("/topology/made").text, "html.parser")
    assert f"what was done cannot be read in {path}: Not a directory" in page.text
    assert page.select("#actions a.button")


def test_a_form_is_good_at_the_next_server_and_at_another_one(tmp_path: Path) -> None:
    one, other = FormCodes(tmp_path), FormCodes(tmp_path)
    assert other.is_good(one.make("made", "kill"), "made", "kill")
    assert not other.is_good(one.make("made", "kill"), "made", "stop")
    assert (tmp_path / "ui.key").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("content", [b"", b"short", b"x" * 33])
def test_a_key_that_is_none_is_replaced(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "ui.key").write_bytes(content)
    one = FormCodes(tmp_path)
    assert FormCodes(tmp_path).make("made", "kill") == one.make("made", "kill")
    assert (tmp_path / "ui.key").read_bytes() not in (content, b"")


def test_where_no_key_can_be_kept_forms_are_good_at_their_own_server(tmp_path: Path) -> None:
    (tmp_path / "ui.key").mkdir()
    one, other = FormCodes(tmp_path), FormCodes(tmp_path)
    assert one.is_good(one.make("made", "kill"), "made", "kill")
    assert not other.is_good(one.make("made", "kill"), "made", "kill")


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 256 KiB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", disk], capture_output=True, check=False
    ).returncode:
        pytest.skip("only root may mount a small disk")
    try:
        yield disk
    finally:
        subprocess.run(["umount", "-l", disk], check=True)


FILLS = """
import sys
print("did it", flush=True)
with open(sys.argv[1], "wb", buffering=0) as file:
    try:
        while file.write(bytes(4096)):
            pass
    except OSError as error:
        print(error.strerror)
raise SystemExit(int(sys.argv[2]))
"""


@pytest.mark.parametrize(("code", "state"), [(0, "done"), (3, "refused")])
def test_a_disk_that_fills_up_meanwhile_does_not_change_how_an_action_ends(
    small_disk: Path, code: int, state: str
) -> None:
    runner = ActionRunner(small_disk, (sys.executable, "-c", FILLS))
    ended = runner.run("made", "Rescale", [str(small_disk / "filler"), str(code)])
    assert (ended.state, ended.code, ended.said) == (state, code, "did it\nNo space left on device")
    with pytest.raises(ActionRefused, match=r"cannot be started, or not be kept in .*: No space left on device"):
        runner.run("made", "Rescale", [str(small_disk / "filler"), "0"])
    assert [one.number for one in runner.latest("made")] == [1], "what could not be kept has not begun"
    (small_disk / "filler").unlink()
    assert runner.run("made", "Rescale", [str(small_disk / "other"), "0"]).state == "done"
