"""Alerts: what conditions mean, when who is told, and that webhook, mail server and command hear of it."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from aiosmtpd.controller import Controller
from bs4 import BeautifulSoup
from fastapi.testclient import TestClient
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from ouzel.cli.failure import Exit
from ouzel.cli.main import app as commands
from ouzel.errors import OuzelError
from ouzel.runtime.cluster.submitted.registry import Registry
from ouzel.tracker.alerts.conditions import TopologyFacts, parse_condition
from ouzel.tracker.alerts.keeping import AlertWatch
from ouzel.tracker.alerts.machine import AlertMachine, AlertNotice, AlertRule, MutedSpan
from ouzel.tracker.alerts.memory_file import describe_alert_memory
from ouzel.tracker.alerts.rules import Mail, Receiver, SecretPlace, Webhook, parse_alerts, read_alert_file
from ouzel.tracker.alerts.sending import send_notice
from ouzel.tracker.alone import run_alone
from ouzel.tracker.app import create_app
from tests.servers.process import free_port

FACTS = TopologyFacts("running", 90.0, 130.0, {"lag": 5_000.0, "bad": 0.0}, frozenset({"data-skew"}))


@pytest.mark.parametrize(
    ("text", "holds", "lasts_s"),
    [
        ("lag > 1 min for 5 min", True, 300.0),
        ("lag > 2 min", False, 0.0),
        ("lag >= 5000 for 1 h", True, 3_600.0),
        ("lag < 5000", False, 0.0),
        ("bad > 0", False, 0.0),
        ("shed > 0", None, 0.0),
        ("no epoch for 2 min", True, 0.0),
        ("no epoch for 1 d", False, 0.0),
        ("state is running for 0.5 s", True, 0.5),
        ("state is failed", False, 0.0),
        ("verdict data-skew", True, 0.0),
        ("verdict slow-instance for 1 min", False, 60.0),
    ],
)
def test_what_a_condition_means(text: str, holds: bool | None, lasts_s: float) -> None:
    condition = parse_condition(text)
    assert (condition.holds(FACTS), condition.lasts_s) == (holds, lasts_s)


@pytest.mark.parametrize("text", ["lag > 1 s", "rate < 1", "no epoch for 1 s", "verdict data-skew"])
def test_what_is_not_known_is_no_answer(text: str) -> None:
    assert parse_condition(text).holds(TopologyFacts("stopped")) is None


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "cannot be read from '' on; write 'lag > 1 min for 5 min'"),
        ("lag > 1 week", "cannot be read from 'week' on"),
        ("lag > 1 min for 5", "cannot be read"),
        ("cpu > 1", "cannot be read from 'cpu > 1' on"),
        ("bad > 1 min", "'bad' is no time and cannot be compared with '1 min'; leave out 'min'"),
        ("state is ill", "there is no state 'ill'; write one of "),
        ("verdict ill", "there is no verdict 'ill'; write one of silent-master"),
        ("lag > 1" + " " * 2_000, "a condition has 2,007 characters"),
    ],
)
def test_what_is_no_condition_is_refused(text: str, problem: str) -> None:
    with pytest.raises(OuzelError) as refused:
        parse_condition(text)
    assert problem in str(refused.value)


def rule(when: str = "lag > 10 for 5 s", topologies: str = "*") -> AlertRule:
    """A rule that tells one receiver."""
    return AlertRule("r", parse_condition(when), topologies, ("me",))


def lag(records: float | None) -> dict[str, TopologyFacts | None]:
    """Of one topology; None of one that cannot be read."""
    return {"t": None if records is None else TopologyFacts("running", figures={"lag": records})}


def told(machine: AlertMachine, records: float | None, now_s: float) -> list[bool]:
    """What is told: True that it fires, False that it does no longer."""
    return [one.fires for one in machine.look(lag(records), now_s)]


def test_a_rule_fires_once_when_it_has_held_for_long_enough_and_resolves_once() -> None:
    machine = AlertMachine((rule(),))
    assert [told(machine, 11, now) for now in (0, 4, 5, 6, 100)] == [[], [], [True], [], []]
    assert [told(machine, 10, now) for now in (101, 102)] == [[False], []]
    assert [told(machine, 11, now) for now in (103, 107, 108)] == [[], [], [True]]


def test_a_break_begins_the_time_anew_and_what_was_not_told_is_not_resolved() -> None:
    machine = AlertMachine((rule(),))
    assert [told(machine, records, now) for records, now in ((11, 0), (1, 4), (11, 5), (11, 9), (1, 9.5))] == [[]] * 5


def test_what_is_not_known_changes_nothing() -> None:
    machine = AlertMachine((rule(),))
    assert [told(machine, records, now) for records, now in ((11, 0), (None, 3), (11, 5), (None, 6))] == [
        [],
        [],
        [True],
        [],
    ]
    assert told(machine, 1, 7) == [False]


def test_silence_is_kept_and_what_still_holds_is_told_after_it() -> None:
    machine = AlertMachine((rule(),), (MutedSpan("*", "t*", 50.0),))
    assert [told(machine, 11, now) for now in (0, 10, 49, 50)] == [[], [], [], [True]]
    quiet = AlertMachine((rule(),), (MutedSpan("r", "*", 50.0),))
    assert [told(quiet, records, now) for records, now in ((11, 0), (11, 10), (1, 20), (1, 60))] == [[]] * 4
    other = AlertMachine((rule(),), (MutedSpan("other", "*", 50.0), MutedSpan("*", "u", 50.0)))
    assert [told(other, 11, now) for now in (0, 5)] == [[], [True]]


def test_a_topology_that_was_removed_resolves_and_a_pattern_chooses() -> None:
    machine = AlertMachine((rule("state is failed", "a*"),))
    notices = machine.look({"ab": TopologyFacts("failed"), "b": TopologyFacts("failed")}, 1)
    assert [(one.topology, one.fires) for one in notices] == [("ab", True)]
    assert [(one.topology, one.fires) for one in machine.look({}, 2)] == [("ab", False)]
    assert machine.look({}, 3) == []


RULES = (rule(),)


@given(st.lists(st.tuples(st.sampled_from([1.0, 11.0, None]), st.integers(0, 4)), max_size=20), st.integers(0, 30))
def test_firing_and_resolving_take_turns_whatever_comes_and_whenever_it_dies(
    steps: list[tuple[float | None, int]], muted_until: int
) -> None:
    rules, muted, now, found = RULES, (MutedSpan("*", "*", muted_until),), 0, list[bool]()
    machine, once = AlertMachine(rules, muted), AlertMachine(rules, muted)
    for records, passed in steps:
        now += passed
        machine = AlertMachine(rules, muted, machine.standing)  # as after a death
        news = told(machine, records, now)
        assert news == told(once, records, now)
        assert not (True in news and (now < muted_until or records != 11))
        found += news
    assert found == [place % 2 == 0 for place in range(len(found))]


FILE = """
[[alert]]
name = "late"
when = "lag > 10"
tell = ["hook", "mail", "run"]

[receiver.hook]
webhook_env = "HOOK"
[receiver.mail]
email = ["ops@example.com"]
from = "ouzel@example.com"
server = "{server}"
[receiver.run]
command = {command}
"""
NOTICE = AlertNotice("late", "t\nBcc: x@y", "lag > 10", True, 0.0, ("hook",))


@pytest.fixture
def posted() -> Iterator[tuple[str, list[Any]]]:
    """A web server's address, and what it was sent; it refuses /bad."""
    bodies: list[Any] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            bodies.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(503 if self.path == "/bad" else 204)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Nothing."""

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}", bodies
        server.shutdown()
        thread.join()


class Mailbox:
    """What a mail server was sent."""

    def __init__(self) -> None:
        self.letters: list[tuple[list[str], str]] = []

    async def handle_DATA(self, _server: object, _session: object, envelope: Any) -> str:
        self.letters.append((envelope.rcpt_tos, envelope.content.decode()))
        return "250 OK"


@pytest.fixture
def mailbox() -> Iterator[tuple[str, Mailbox]]:
    """A mail server's address, and its mailbox."""
    box = Mailbox()
    port = free_port()
    controller = Controller(box, hostname="127.0.0.1", port=port, ready_timeout=60)
    controller.start()
    try:
        yield f"127.0.0.1:{port}", box
    finally:
        controller.stop()


def test_all_receivers_are_told_once(
    posted: tuple[str, list[Any]],
    mailbox: tuple[str, Mailbox],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (url, bodies), (server, box), heard = posted, mailbox, tmp_path / "heard"
    monkeypatch.setenv("HOOK", f"{url}/secret")
    command = [sys.executable, "-c", "import sys; open(sys.argv[1], 'a').write(sys.stdin.read())", str(heard)]
    (tmp_path / "alerts.toml").write_text(FILE.format(server=server, command=json.dumps(command)))
    watch = AlertWatch(read_alert_file(tmp_path / "alerts.toml"), tmp_path, send_notice)
    assert watch.look(lag(11), 0) == ["t: lag > 10"]
    assert watch.look(lag(11), 1) == []
    fields = {"alert": "late", "topology": "t", "condition": "lag > 10", "state": "firing", "since": ""}
    assert bodies[0] | {"since": ""} == fields | {"text": "t: lag > 10"}
    assert json.loads(heard.read_text()) == bodies[0]
    ((to, letter),) = box.letters
    assert to == ["ops@example.com"]
    assert "Subject: [ouzel] t: lag > 10" in letter
    assert watch.look(lag(1), 2) == ["t: resolved: lag > 10"]
    assert [one["state"] for one in bodies] == ["firing", "resolved"]
    assert len(box.letters) == 2
    assert "secret" not in (tmp_path / "alerts.json").read_text()


def test_a_line_break_in_a_name_adds_no_head_to_a_letter(mailbox: tuple[str, Mailbox]) -> None:
    server, box = mailbox
    send_notice(NOTICE, "mail", Mail(server, "a@example.com", ("b@example.com",)))
    ((to, letter),) = box.letters
    assert to == ["b@example.com"]
    assert not [line for line in letter.partition("\r\n\r\n")[0].splitlines() if line.startswith("Bcc")]


def test_a_receiver_that_is_away_is_told_later_and_its_address_is_not_shown(
    posted: tuple[str, list[Any]], tmp_path: Path
) -> None:
    url, bodies = posted
    with pytest.raises(OuzelError, match="receiver 'hook' was not told: Service Unavailable"):
        send_notice(NOTICE, "hook", Webhook(f"{url}/bad"))
    (tmp_path / "hook").write_text("http://127.0.0.1:1/secret\n")
    file = parse_alerts(
        {"alert": [{"when": "lag > 10", "tell": ["hook"]}], "receiver": {"hook": {"webhook_file": "hook"}}}, tmp_path
    )
    bodies.clear()
    watch = AlertWatch(file, tmp_path, send_notice)
    said = watch.look(lag(11), 0)
    assert said[0] == "t: lag > 10"
    assert "receiver 'hook' was not told" in said[1]
    assert "secret" not in said[1]
    (tmp_path / "hook").write_text(url)
    again = AlertWatch(file, tmp_path, send_notice)  # it was killed meanwhile
    assert again.look(lag(11), 1) == []
    assert [one["text"] for one in bodies] == ["t: lag > 10"]
    assert again.look(lag(11), 2) == []
    assert len(bodies) == 1


def test_notices_to_one_that_is_away_keep_their_order_and_their_number_is_bounded(tmp_path: Path) -> None:
    sent: list[bool] = []
    is_away = True

    def send(notice: AlertNotice, name: str, receiver: Receiver) -> None:
        if is_away:
            raise OuzelError("away")
        sent.append(notice.fires)

    file = replace(
        parse_alerts({"alert": [{"when": "lag > 10", "tell": ["c"]}], "receiver": {"c": {"command": ["x"]}}}, tmp_path)
    )
    watch = AlertWatch(file, tmp_path, send, waiting_max=10)
    for now in range(14):
        watch.look(lag(11 if now % 2 == 0 else 1), now)
    is_away = False
    watch.look(lag(1), 20)
    assert sent == [place % 2 == 0 for place in range(10)]


WATCHED = parse_alerts({"alert": [{"when": "lag > 10", "tell": ["c"]}], "receiver": {"c": {"command": ["x"]}}}, Path())


def send_nothing(notice: AlertNotice, name: str, receiver: Receiver) -> None:
    """As if it was told."""


DAMAGED = [
    "",
    "{",
    "[]",
    "null",
    '{"standing": []}',
    '{"standing": [["r", "t", {"since_s": "x", "is_told": true}]], "waiting": []}',
    '{"standing": [["r", "t", {"since_s": NaN, "is_told": true}]], "waiting": []}',
    '{"standing": [], "waiting": [[{}, "c"]]}',
    "\x00" * 200,
]


@pytest.mark.parametrize("text", DAMAGED)
def test_a_damaged_file_is_told_everywhere_and_kept_under_another_name(tmp_path: Path, text: str) -> None:
    path, aside = tmp_path / "alerts.json", tmp_path / "alerts.damaged-1.json"
    path.write_text(text)
    (before,) = describe_alert_memory(tmp_path)
    assert before.startswith(f"{path} is damaged, and which alerts were told is not known: ")
    assert path.read_text() == text, "who only looks changes nothing"
    watch = AlertWatch(WATCHED, tmp_path, send_nothing)
    first, second = watch.look(lag(11), 0)
    assert first.startswith(f"which alerts were told before is in {aside}, which is damaged: what still holds was told")
    assert second == "t: lag > 10"
    assert watch.look(lag(11), 1) == []
    assert aside.read_text() == text
    (after,) = describe_alert_memory(tmp_path)
    page = TestClient(create_app(Registry(tmp_path)), base_url="http://localhost").get("/").text
    assert after in BeautifulSoup(page, "html.parser").text
    assert AlertWatch(WATCHED, tmp_path, send_nothing).look(lag(11), 2) == [], "it goes on with what it has kept since"


def test_a_file_that_cannot_be_read_now_is_no_memory_that_is_empty(tmp_path: Path) -> None:
    path = tmp_path / "alerts.json"
    path.mkdir()
    told = f"what was told cannot be read in {path}: Is a directory; nobody is told anything until it can"
    with pytest.raises(OuzelError) as refused:
        AlertWatch(WATCHED, tmp_path, send_nothing)
    assert [str(refused.value)] == describe_alert_memory(tmp_path) == [told]
    path.rmdir()
    assert AlertWatch(WATCHED, tmp_path, send_nothing).look(lag(11), 0) == ["t: lag > 10"]


def test_where_nothing_can_be_kept_people_are_told_all_the_same_and_that_once(tmp_path: Path) -> None:
    watch = AlertWatch(WATCHED, tmp_path, send_nothing)
    (tmp_path / "alerts.json").mkdir()
    problem, told = watch.look(lag(11), 0)
    assert problem.startswith(f"what was told cannot be kept in {tmp_path / 'alerts.json'}: ")
    assert told == "t: lag > 10"
    assert [watch.look(lag(11), now) for now in (1, 2)] == [[], []]
    (tmp_path / "alerts.json").rmdir()
    watch.look(lag(11), 3)
    assert AlertWatch(WATCHED, tmp_path, send_nothing).look(lag(11), 4) == []


GOOD = {"alert": [{"when": "lag > 1", "tell": ["m"]}], "receiver": {"m": {"command": ["x"]}}}


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ({}, "it has no alert"),
        ({"alerts": []}, "the file has 'alerts', which means nothing; write one of alert, receiver, silence"),
        ({"alert": [{"when": "lag > 1"}]}, "[[alert]] has no 'tell', which is a list of texts"),
        ({"alert": [{"when": "lag > 1", "tell": ["me"]}]}, "tells 'me', which is no receiver; write [receiver.me]"),
        ({"receiver": {"m": {}}}, "[receiver.m] must say one of webhook"),
        ({"receiver": {"m": {"webhook": "ftp://x"}}}, "the webhook of [receiver.m] is no address"),
        ({"receiver": {"m": {"webhook": "http://u:p@x/"}}}, "holds a password; put the address into a file"),
        ({"receiver": {"m": {"email": ["a@b"], "password": "x"}}}, "holds a password; write password_env"),
        ({"receiver": {"m": {"command": "rm -r"}}}, "no 'command', which is a list of texts"),
        ({"silence": [{"until": "later"}], **GOOD}, "[[silence]] has no end"),
        ({"alert": {"when": "lag > 1"}}, "'alert' is no list of tables; write [[alert]]"),
    ],
)  # fmt: skip
def test_a_file_that_is_wrong_is_refused(content: dict[str, Any], problem: str, tmp_path: Path) -> None:
    with pytest.raises(OuzelError) as refused:
        parse_alerts(content, tmp_path)
    assert problem in str(refused.value)


def test_secrets_that_are_not_there_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NOT_THERE", raising=False)
    with pytest.raises(OuzelError, match="the environment has no NOT_THERE"):
        SecretPlace(variable="NOT_THERE").read()
    with pytest.raises(OuzelError, match="cannot be read"):
        SecretPlace(file=tmp_path / "none").read()


def test_there_is_one_watch(tmp_path: Path) -> None:
    with (
        run_alone(tmp_path, "alerts"),
        pytest.raises(OuzelError, match="another `ouzel alerts`"),
        run_alone(tmp_path, "alerts"),
    ):
        pass


def test_the_command_checks_a_file_and_looks_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OUZEL_HOME", str(tmp_path / "home"))
    file = tmp_path / "alerts.toml"
    file.write_text(FILE.format(server="localhost", command='["true"]'))
    checked = CliRunner().invoke(commands, ["alerts", "--check", str(file)])
    assert (checked.exit_code, checked.output) == (0, "1 alerts, 3 receivers\n")
    assert CliRunner().invoke(commands, ["alerts", "--once", str(file)]).exit_code == 0
    file.write_text("[[alert]]\nwhen = 'lag'\ntell = ['x']\n")
    refused = CliRunner().invoke(commands, ["alerts", str(file)])
    assert refused.exit_code == Exit.FAILED
    assert "alerts.toml: " in refused.output
