"""Actions: the command of each, who may ask for one, and what a page and a program are told of it."""

from __future__ import annotations

import fcntl
import os
import re
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import pytest
from fastapi.testclient import TestClient

from ouzel.runtime.cluster.submitted.registry import Registry
from ouzel.runtime.protocol.cluster.submitted import Condition, Submitted
from ouzel.tracker.acting import actions
from ouzel.tracker.acting.actions import ActionRefused, Target, find_action
from ouzel.tracker.acting.carrying import AT_ONCE, ActionRunner
from ouzel.tracker.app import create_app
from ouzel.tracker.peers import find_peer_user
from ouzel.tracker.topologies.snapshot import find_user
from tests.servers.waiting import wait_until

TOKEN = "a-token-of-some-length"
TARGET = Target("made", Path("/kept/savepoints/made-1"))
ECHO = (sys.executable, "-c", "import sys; print(sys.argv[1:])")
ASKS = ("log-level", "sample")
REFUSE = (sys.executable, "-c", "import sys; print('error: it cannot be', file=sys.stderr); sys.exit(2)")


@pytest.mark.parametrize(
    ("key", "fields", "command"),
    [
        ("pause", {}, ["pause", "--", "made"]),
        ("resume", {}, ["resume", "--", "made"]),
        ("restart", {"part": ""}, ["restart", "--", "made"]),
        ("restart", {"part": "--debug"}, ["restart", "--", "made", "--debug"]),
        (
            "rescale",
            {"tasks.a": "3", "had.a": "1", "tasks.b": "2", "had.b": "2"},
            ["update", "--parallelism=a=3", "--", "made"],
        ),
        ("stop", {}, ["stop", "--", "made"]),
        ("savepoint", {"folder": "/etc"}, ["stop", "--savepoint=/kept/savepoints/made-1", "--", "made"]),
        ("start", {}, ["start", "--", "made"]),
        (
            "log-level",
            {"part": "--debug", "level": "debug", "minutes": "5"},
            ["log-level", "--minutes=5", "--", "made", "debug", "--debug"],
        ),
        ("sample", {"part": "", "minutes": "240"}, ["sample", "--minutes=240", "--", "made"]),
        ("kill", {"name": "made"}, ["kill", "--", "made"]),
    ],
)
def test_an_action_is_a_command_of_the_command_line(key: str, fields: dict[str, str], command: list[str]) -> None:
    assert find_action(key).arguments(TARGET, fields) == command


@pytest.mark.parametrize(
    ("key", "fields", "told"),
    [
        ("kill", {}, "write 'made'"),
        ("kill", {"name": "other"}, "'other' is not its name"),
        ("rescale", {"tasks.a": "1", "had.a": "1"}, "no component has another number"),
        ("rescale", {"tasks.a": "0"}, "no number of tasks"),
        ("rescale", {"tasks.a": "2 --yes"}, "no number of tasks"),
        ("log-level", {"level": "debug", "minutes": "241"}, "from 1 to 240"),
        ("log-level", {"level": "debug --minutes=9", "minutes": "5"}, "is no level"),
        ("log-level", {"minutes": "5"}, "is no level"),
        ("sample", {}, "'' is no number of minutes"),
        ("sample", {"minutes": "0"}, "no number of minutes"),
    ],
)
def test_what_is_filled_in_wrongly_is_no_command(key: str, fields: dict[str, str], told: str) -> None:
    with pytest.raises(ActionRefused, match=told):
        find_action(key).arguments(TARGET, fields)


def test_a_page_offers_what_fits() -> None:
    offered = {one: [action.key for action in actions.fitting_actions("made", one)] for one in Condition}
    assert offered[Condition.RUNNING] == ["pause", "restart", "rescale", *ASKS, "stop", "savepoint", "kill"]
    assert offered[Condition.PAUSED] == ["resume", "restart", *ASKS, "stop", "savepoint", "kill"]
    assert offered[Condition.STOPPED] == ["rescale", "savepoint", "start", "kill"]
    assert all("kill" in keys for keys in offered.values())


class Asked:
    """A server over one topology whose processes are gone, and whose commands are stand-ins."""

    def __init__(self, home: Path, command: tuple[str, ...] = ECHO, user: int | None = None, token: str = "") -> None:
        self.registry = Registry(home)
        self.registry.put(Submitted("made", "made-1", 1, Condition.RUNNING, 0, True))
        owner = os.getuid() if user is None else user
        app = create_app(self.registry, token, owner_of=lambda client, server: owner)
        self.runner = app.state.runner = ActionRunner(self.registry.home, command)
        self.client = TestClient(app, base_url="http://localhost:8889", follow_redirects=False)

    def code(self, key: str) -> str:
        """What the form of an action carries."""
        page = self.client.get(f"/topology/made/do/{key}")
        return re.findall(r'name="code" value="(\w+)"', page.text)[0]

    @property
    def done(self) -> list[tuple[str, str, str]]:
        """What was done: title, state, and what was said."""
        return [(one.title, one.state, one.said) for one in self.runner.latest("made")]


@pytest.fixture
def asked(tmp_path: Path) -> Asked:
    """One whose commands say what they were."""
    return Asked(tmp_path / "home")


def test_a_confirmed_form_begins_the_command_and_leads_back_to_the_topology(asked: Asked) -> None:
    answer = asked.client.post("/topology/made/do/pause", data={"code": asked.code("pause")})
    assert (answer.status_code, answer.headers["location"]) == (303, "/topology/made#actions")
    wait_until(lambda: asked.done[0][1] != "at work")
    assert asked.done == [("Pause", "done", "['pause', '--', 'made']")]
    page = asked.client.get("/topology/made")
    assert (
        page.status_code == 500
    )  # its files are not there; all the same it says what was done, and offers to remove it
    assert "Pause" in page.text
    assert "/topology/made/do/kill" in page.text


def test_a_topology_is_removed_by_who_writes_its_name(asked: Asked) -> None:
    code = asked.code("kill")
    wrong = asked.client.post("/topology/made/do/kill", data={"code": code, "name": "<b>"})
    assert (wrong.status_code, "&#39;&lt;b&gt;&#39; is not its name" in wrong.text, asked.done) == (400, True, [])
    right = asked.client.post("/topology/made/do/kill", data={"code": code, "name": "made"})
    assert (right.status_code, right.headers["location"]) == (303, "/")
    assert asked.done == [("Kill", "done", "['kill', '--', 'made']")]


def test_the_sentence_of_a_refused_command_is_shown(tmp_path: Path) -> None:
    asked = Asked(tmp_path / "home", REFUSE)
    page = asked.client.post("/topology/made/do/kill", data={"code": asked.code("kill"), "name": "made"})
    assert (page.status_code, '<p class="trouble" role="alert">it cannot be</p>' in page.text) == (400, True)


@pytest.mark.parametrize("code", [None, "", "0" * 64, "of another action", "ä"])
def test_a_form_that_no_page_of_this_server_made_does_nothing(asked: Asked, code: str | None) -> None:
    given = asked.code("stop") if code == "of another action" else code
    answer = asked.client.post("/topology/made/do/pause", data={} if given is None else {"code": given})
    assert (answer.status_code, asked.done) == (403, [])


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"origin": "http://localhost:8889", "sec-fetch-site": "same-origin"}, 303),
        ({"sec-fetch-site": "none"}, 303),
        ({"origin": "http://localhost:8890"}, 403),
        ({"origin": "http://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"sec-fetch-site": "cross-site"}, 403),
        ({"sec-fetch-site": "same-site"}, 403),
        ({"host": "evil.example:8889", "origin": "http://evil.example:8889"}, 421),
    ],
)
def test_a_page_of_another_site_can_do_nothing(asked: Asked, headers: dict[str, str], status: int) -> None:
    answer = asked.client.post("/topology/made/do/pause", data={"code": asked.code("pause")}, headers=headers)
    assert answer.status_code == status
    assert bool(asked.done) == (status == 303)


@pytest.mark.parametrize(
    ("user", "token", "shown", "status"),
    [
        (os.getuid(), "", None, 200),
        (0, "", None, 200),
        (os.getuid() + 1, "", None, 403),
        (-1, "", None, 403),
        (os.getuid() + 1, TOKEN, TOKEN, 200),
        (os.getuid(), TOKEN, None, 401),
    ],
)
def test_without_a_token_only_the_servers_user_may_change_anything(
    tmp_path: Path, user: int, token: str, shown: str | None, status: int
) -> None:
    asked = Asked(tmp_path / "home", user=user, token=token)
    headers = {"authorization": f"Bearer {shown}"} if shown else {}
    path = f"/api/v1/topologies/local/{find_user(asked.registry.home)}/default/made"
    assert asked.client.post(f"{path}/deactivate", headers=headers).status_code == status
    assert bool(asked.done) == (status == 200)


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_the_kernel_knows_whose_a_connection_is(host: str) -> None:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listener = socket.create_server((host, 0), family=family)
    except OSError:
        pytest.skip(f"{host} is not there")
    with listener, socket.create_connection(listener.getsockname()[:2]) as client:
        here, there = client.getsockname()[:2], listener.getsockname()[:2]
        assert find_peer_user(here, there) == os.getuid()
        assert find_peer_user((here[0], 1), there) is None
    assert find_peer_user(("no address", 1), ("127.0.0.1", 2)) is None


def test_programs_use_the_urls_of_herons_api_server(asked: Asked) -> None:
    path = f"/api/v1/topologies/local/{find_user(asked.registry.home)}/default/made"
    post = asked.client.post
    assert "ouzel.build.version" in asked.client.get("/api/v1/version").json()
    assert post(f"{path}/activate").json() == {"message": "['resume', '--', 'made']"}
    assert post(f"{path}/restart", data={"container_id": "-1"}).json() == {"message": "['restart', '--', 'made']"}
    one = post(f"{path}/restart", data={"container_id": "2"}).json()
    assert one == {"message": "['restart', '--', 'made', 'container-2']"}
    both = post(f"{path}/update", data={"component_parallelism": ["a:b:3", "c:2"]}).json()
    assert both == {"message": "['update', '--parallelism=a:b=3', '--parallelism=c=2', '--', 'made']"}
    assert asked.client.delete(path).json() == {"message": "['kill', '--', 'made']"}


@pytest.mark.parametrize(
    ("path", "given", "status"),
    [
        ("local/{user}/default/none/activate", {}, 404),
        ("elsewhere/{user}/default/made/activate", {}, 404),
        ("local/nobody-else/default/made/activate", {}, 404),
        ("local/{user}/default/made/update", {}, 422),
        ("local/{user}/default/made/update", {"container_number": "2"}, 422),
        ("local/{user}/default/made/update", {"component_parallelism": "a"}, 422),
    ],
)
def test_programs_are_told_what_is_wrong(asked: Asked, path: str, given: dict[str, str], status: int) -> None:
    user = find_user(asked.registry.home)
    answer = asked.client.post(f"/api/v1/topologies/{path.format(user=user)}", data=given)
    assert (answer.status_code, asked.done) == (status, [])
    assert answer.json()["message"]


def test_a_program_is_told_the_sentence_of_a_refused_command(tmp_path: Path) -> None:
    asked = Asked(tmp_path / "home", REFUSE)
    answer = asked.client.delete(f"/api/v1/topologies/local/{find_user(asked.registry.home)}/default/made")
    assert (answer.status_code, answer.json()) == (500, {"message": "it cannot be"})


def test_a_body_without_end_is_refused(asked: Asked) -> None:
    answer = asked.client.post("/topology/made/do/pause", content=b"x" * 100_000)
    assert (answer.status_code, "bytes were sent" in answer.text) == (400, True)


def test_what_only_shows_has_no_actions(tmp_path: Path) -> None:
    registry = Registry(tmp_path / "home")
    registry.put(Submitted("made", "made-1", 1, Condition.RUNNING, 0, True))
    app = create_app(registry, read_only=True, owner_of=lambda client, server: os.getuid())
    client = TestClient(app, base_url="http://localhost")
    assert client.get("/topology/made/do/kill").status_code == 404
    assert client.post("/topology/made/do/kill").status_code == 404
    assert client.delete("/api/v1/topologies/local/me/default/made").status_code == 404
    assert "/do/" not in client.get("/topology/made").text


WAITS = "import fcntl, sys; fcntl.flock(open(sys.argv[1]), fcntl.LOCK_EX)"


@pytest.fixture
def gate(tmp_path: Path) -> Iterator[IO[str]]:
    """A file that is locked until it is closed; whoever asks for the lock later than that has it at once."""
    with (tmp_path / "gate").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield held


def test_only_so_many_commands_are_at_work_at_once(tmp_path: Path, gate: IO[str]) -> None:
    runner = ActionRunner(tmp_path, (sys.executable, "-c", WAITS))
    for _ in range(AT_ONCE):
        runner.start("made", "Pause", [gate.name])
    with pytest.raises(ActionRefused, match="are at work"):
        runner.start("made", "Pause", [])
    gate.close()
    wait_until(lambda: {one.state for one in runner.latest("made", most=AT_ONCE)} == {"done"})
    numbers = [one.number for one in runner.latest("made", most=AT_ONCE)]
    assert numbers == sorted(numbers, reverse=True)


def test_a_command_is_of_a_session_of_its_own_and_knows_ouzel_home(tmp_path: Path) -> None:
    code = "import os, sys; print(os.getsid(0) == os.getppid() != int(sys.argv[1]), os.environ['OUZEL_HOME'])"
    done = ActionRunner(tmp_path, (sys.executable, "-c", code)).run("made", "Pause", [str(os.getsid(0))])
    assert (done.code, done.said) == (0, f"True {tmp_path}")
