"""The shell around what is done by itself: commands, the file, who acts, and what people are told."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from bs4 import BeautifulSoup
from typer.testing import CliRunner

from ouzel.cli.main import app
from ouzel.errors import OuzelError, QueryError
from ouzel.planner.settings import HealthPolicy, Settings
from ouzel.runtime.cluster.submitted.registry import Registry
from ouzel.runtime.protocol.cluster.submitted import Condition
from ouzel.tracker.acting.action_files import Carried
from ouzel.tracker.alone import is_run, run_alone
from ouzel.tracker.asides import ASIDE_MAX, list_asides
from ouzel.tracker.health.manager import HealthManager, see_topology
from ouzel.tracker.health.memory_file import load_memory, memory_path, store_memory
from ouzel.tracker.health.regulator import Patience
from ouzel.tracker.health.telling import read_health_log
from ouzel.tracker.health.treatments import TreatmentMemory, TreatmentOutcome
from ouzel.tracker.metrics.history import History
from ouzel.tracker.pages import topology_pages
from ouzel.tracker.topologies.results import ResultTail
from ouzel.tracker.topologies.snapshot import TopologySnapshot
from tests.tracker.snapshots import make_snapshot
from tests.tracker.test_regulator import SHORT, SLOW, seen


def made(policy: HealthPolicy = HealthPolicy.ALL) -> TopologySnapshot:
    """A topology with that policy."""
    one = make_snapshot()
    topology = replace(one.job.topology, settings=replace(Settings(), health_policy=policy))
    return replace(one, job=replace(one.job, topology=topology))


@dataclass
class World:
    """A manager over one topology, a clock, and the commands that were run."""

    registry: Registry
    one: TopologySnapshot = field(default_factory=made)
    now_s: float = 0.0
    sighting: object = None
    code: int = 0
    commands: list[list[str]] = field(default_factory=list)
    manager: HealthManager = field(init=False)

    def __post_init__(self) -> None:
        self.registry.folder(self.one.name).path.mkdir(parents=True, exist_ok=True)
        self.begin()

    def begin(self) -> None:
        """A new process."""
        watcher = SimpleNamespace(registry=self.registry, snapshots=lambda: iter([self.one]))
        self.manager = HealthManager(watcher, self.run, lambda *_: self.sighting, Patience(10, 100))  # type: ignore[arg-type]

    def run(self, topology: str, title: str, arguments: Sequence[str]) -> Carried:
        """Note a command. What is to be done was kept before it."""
        assert load_memory(self.registry, topology).open is not None
        self.commands.append(list(arguments))
        return Carried(1, topology, title, 0, self.code, "" if self.code == 0 else "no room")

    def look(self, *times_s: float) -> list[str]:
        """What was said at these times."""
        return list(self._look(times_s))

    def _look(self, times_s: Sequence[float]) -> Iterator[str]:
        for self.now_s in times_s:
            yield from self.manager.look(lambda: self.now_s)

    @property
    def memory(self) -> TreatmentMemory:
        """What is kept."""
        return load_memory(self.registry, self.one.name)


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(Registry(tmp_path))


def test_it_carries_out_the_commands_that_users_have_and_keeps_what_became_of_it(world: World) -> None:
    world.sighting = seen(SHORT)
    (said,) = world.look(0, 10)
    assert said.startswith("made: count from 2 to 4 tasks, for under-provisioned: count: too much waited")
    assert world.commands == [["update", "--parallelism=count=4", "--", "made"]]
    world.sighting = seen(tasks=4)
    assert world.look(110) == ["made: count from 2 to 4 tasks: helped"]
    assert [one.outcome for one in world.memory.treatments] == [TreatmentOutcome.HELPED]
    world.sighting = seen(SLOW, tasks=4)
    world.look(200, 210)
    assert world.commands[1:] == [["restart", "--", "made", "count[1]"]]


def test_a_command_that_is_refused_is_told_and_kept(world: World) -> None:
    world.sighting, world.code = seen(SHORT), 2
    said = world.look(0, 10)
    assert said[-1] == "made: count from 2 to 4 tasks: refused: no room"
    assert (world.memory.treatments[-1].outcome, world.memory.treatments[-1].said) == (
        TreatmentOutcome.REFUSED,
        "no room",
    )


def test_it_goes_on_where_it_was_killed(world: World) -> None:
    world.sighting = seen(SHORT)
    world.look(0, 10)
    world.begin()
    world.sighting = seen(SHORT, tasks=4, read_s=100.0)
    assert world.look(50) == []
    world.look(110)
    assert world.commands[-1] == ["update", "--parallelism=count=2", "--", "made"]
    assert [one.outcome for one in world.memory.treatments] == [TreatmentOutcome.MADE_WORSE, TreatmentOutcome.WATCHED]


def test_where_nothing_can_be_kept_nothing_is_done(world: World) -> None:
    world.registry.folder("made").path.rmdir()
    world.sighting = seen(SHORT)
    (said,) = world.look(0, 10)
    assert "cannot be kept" in said
    assert world.commands == []


def test_a_topology_without_a_policy_is_left_alone(world: World) -> None:
    world.one = made(HealthPolicy.OFF)
    world.sighting = seen(SHORT)
    assert world.look(0, 10, 1_000) == []
    assert world.commands == []


def test_what_is_left_to_people_is_said_once(world: World) -> None:
    from tests.tracker.test_regulator import verdict

    world.sighting = seen(verdict("data-skew", "count[1]"))
    (said,) = world.look(0, 10, 20, 1_000)
    assert said.startswith("made: data-skew: count[1]: more tasks would not")


def test_one_process_acts_on_the_topologies_of_a_registry(tmp_path: Path) -> None:
    assert not is_run(tmp_path, "health")
    with run_alone(tmp_path, "health"):
        assert is_run(tmp_path, "health")
        with pytest.raises(OuzelError, match="another `ouzel health`"), run_alone(tmp_path, "health"):
            pass
        assert CliRunner().invoke(app, ["health", "--once"], env={"OUZEL_HOME": str(tmp_path)}).exit_code != 0
    assert not is_run(tmp_path, "health")
    assert CliRunner().invoke(app, ["health", "--once"], env={"OUZEL_HOME": str(tmp_path)}).exit_code == 0


def test_nothing_is_seen_of_what_does_not_run_or_is_young(tmp_path: Path) -> None:
    registry, now_s = Registry(tmp_path), time.time()
    young = made()
    stopped = replace(young, condition=Condition.STOPPED)
    assert [see_topology(registry, one, History(), now_s) for one in (young, stopped)] == [None, None]


def test_status_and_page_show_what_was_done(world: World) -> None:
    world.sighting = seen(SHORT)
    world.look(0, 10)
    log = read_health_log(world.registry, "made", HealthPolicy.ALL)
    assert list(log.lines()) == [
        "'health.policy' is all, but nobody acts on it: start `ouzel health`",
        "1970-01-01 00:00:10 count from 2 to 4 tasks, for under-provisioned: count: watched",
    ]
    shown = topology_pages.describe_page(world.one, History(), [], ResultTail((), ()), 20.0) | {"health_log": log}
    soup = BeautifulSoup(topology_pages.templates.get_template("topology.html").render(**shown), "html.parser")
    (treated,) = soup.select(".treated > li")
    assert "count from 2 to 4 tasks" in treated.text
    assert "too much waited" in treated.text
    assert "start `ouzel health`" in soup.text
    assert read_health_log(world.registry, "made", HealthPolicy.OFF).note == ""


DAMAGED = [
    "",
    "{",
    "[]",
    "null",
    '{"count": 1}',
    '{"treatments": [{}], "rests": [], "shortages": {}, "count": 1}',
    "\x00" * 200,
]


@pytest.mark.parametrize("text", DAMAGED)
def test_a_damaged_file_is_told_everywhere_and_kept_under_another_name(world: World, text: str) -> None:
    path = memory_path(world.registry, "made")
    path.write_text(text)
    before = read_health_log(world.registry, "made", HealthPolicy.ALL)
    assert [line.startswith(f"{path} is damaged, and what was done is not known: ") for line in before.problems] == [
        True
    ]
    assert path.read_text() == text, "who only looks changes nothing"
    (told,) = world.look(0)
    aside = path.with_name("health.damaged-1.json")
    assert told.startswith(
        f"made: what was done before is in {aside}, which is damaged: what was not to be done again may be"
    )
    assert (aside.read_text(), path.exists()) == (text, False)
    world.sighting = seen(SHORT)
    world.look(1, 11)
    log = read_health_log(world.registry, "made", HealthPolicy.ALL)
    assert len(log.treatments) == 1
    assert (aside.read_text(), [str(aside) in line for line in log.problems]) == (text, [True])
    assert next(log.lines()) == log.problems[0]
    shown = topology_pages.describe_page(world.one, History(), [], ResultTail((), ()), 20.0) | {"health_log": log}
    page = topology_pages.templates.get_template("topology.html").render(**shown)
    assert log.problems[0] in BeautifulSoup(page, "html.parser").text


def test_files_that_are_damaged_again_and_again_stop_it_and_none_is_written_over(world: World) -> None:
    path = memory_path(world.registry, "made")
    for number in range(1, ASIDE_MAX + 1):
        path.write_text(f"damage {number}")
        world.begin()
        world.look(0)
    path.write_text("the last")
    world.begin()
    world.sighting = seen(SHORT)
    for line in world.look(0, 10):
        assert line.startswith(f"made: {path} is damaged, as {ASIDE_MAX} before it were; look for what damages it")
    assert world.commands == []
    assert path.read_text() == "the last"
    assert [one.read_text() for one in list_asides(memory_path(world.registry, "made"))] == [
        f"damage {n}" for n in range(1, ASIDE_MAX + 1)
    ]


def test_a_file_that_cannot_be_read_now_stops_it_and_stays(world: World) -> None:
    path = memory_path(world.registry, "made")
    path.mkdir()
    world.sighting = seen(SHORT)
    told = f"what was done to 'made' cannot be read in {path}: Is a directory; nothing is done by itself until it can"
    assert world.look(0, 10) == [f"made: {told}"] * 2
    assert world.commands == []
    assert read_health_log(world.registry, "made", HealthPolicy.ALL).problems == (told,)
    path.rmdir()
    world.look(20, 30)
    assert len(world.commands) == 1


def test_what_is_written_is_read_again(world: World) -> None:
    store_memory(world.registry, "made", TreatmentMemory())
    assert json.loads(memory_path(world.registry, "made").read_text())["treatments"] == []
    assert load_memory(world.registry, "made") == TreatmentMemory()


@pytest.mark.parametrize(
    ("key", "value", "told"),
    [
        ("health.policy", "shed", "write off, restart, rescale, all"),
        ("health.tasks.max", "0", "write a whole number of at least 1"),
        ("health.polcy", "all", "did you mean 'health.policy'?"),
    ],
)
def test_a_wrong_policy_is_refused(key: str, value: str, told: str) -> None:
    with pytest.raises(QueryError, match=told.replace("?", r"\?")):
        Settings().with_values([(key, value)])
