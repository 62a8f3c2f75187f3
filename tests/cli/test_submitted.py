"""Topologies that are submitted and stay: they outlive whoever started them, and come back when all their processes were killed."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent
from typing import Any, NamedTuple

import pytest
from typer.testing import CliRunner, Result

import ouzel
from ouzel import Source
from ouzel.cli.main import app
from ouzel.runtime.cluster.submitted.registry import Registry
from ouzel.runtime.protocol.cluster.submitted import Condition
from ouzel.runtime.run import RunState
from tests.cli.examples import asked, same
from tests.servers.waiting import wait_until

pytestmark = pytest.mark.server

FOLLOWED = """
CREATE TABLE lines (n BIGINT) WITH ('connector' = 'file', 'path' = 'lines.jsonl', 'format' = 'json', 'follow' = 'true');
SELECT n, 2 * n AS twice FROM lines;
"""
COUNTED = FOLLOWED.replace(
    "n, 2 * n AS twice FROM lines", "n % 2 AS odd, COUNT(*) AS seen FROM lines GROUP BY n % 2 EMIT CHANGES"
)
BOUNDED = "SELECT 1 AS one;"


class Place:
    """OUZEL_HOME, a temporary directory, and queries over a file that grows."""

    def __init__(self, root: Path) -> None:
        self.home, self.root, self.lines = root / "home", root, root / "lines.jsonl"
        self.lines.touch()
        for name, text in (("followed", FOLLOWED), ("counted", COUNTED), ("bounded", BOUNDED)):
            (root / f"{name}.sql").write_text(text)
        (root / "tmp").mkdir()

    def append(self, *numbers: int) -> None:
        """Add lines to the file."""
        with self.lines.open("a") as file:
            file.writelines(f'{{"n": {number}}}\n' for number in numbers)

    def ask(self, *arguments: object) -> Result:
        """A command, in this process."""
        return CliRunner().invoke(app, [*map(str, arguments)])

    def told(self, *arguments: object) -> str:
        """What a command prints that must succeed."""
        result = self.ask(*arguments)
        assert result.exit_code == 0, result.output
        return result.stdout

    def rows(self, name: str, form: str = "jsonl") -> list[dict[str, Any]]:
        """What a topology has answered."""
        return [json.loads(line) for line in self.told("results", name, "--format", form).splitlines()]

    def twice(self, name: str = "followed") -> list[int]:
        """One column of that."""
        return [row["twice"] for row in self.rows(name)]

    def condition(self, name: str) -> Condition | None:
        """How a topology stands."""
        registry = Registry(self.home)
        record = registry.find(name)
        return record and registry.condition(record)

    def processes(self, name: str) -> list[int]:
        """All processes of a topology: they hold its lock."""
        lock = os.stat(self.home / "state/keepers" / name / "=holder")
        return [int(path.name) for path in Path("/proc").glob("[0-9]*") if _has_open(path, lock)]

    def kill_all(self, name: str) -> None:
        """SIGKILL to all processes of a topology."""
        for pid in self.processes(name):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        wait_until(lambda: self.condition(name) is Condition.INTERRUPTED)


def _has_open(process: Path, file: os.stat_result) -> bool:
    try:
        return any(os.path.samestat(descriptor.stat(), file) for descriptor in (process / "fd").iterdir())
    except OSError:
        return False


@pytest.fixture
def place(monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    """A place of its own, where nothing is left at the end."""
    with tempfile.TemporaryDirectory(prefix="oz") as name:
        place = Place(Path(name))
        monkeypatch.setenv("OUZEL_HOME", str(place.home))
        monkeypatch.setenv("TMPDIR", str(place.root / "tmp"))
        monkeypatch.setattr(tempfile, "tempdir", None)
        yield place
        for topology in Registry(place.home).names():
            place.told("kill", topology)
        assert not list((place.root / "tmp").glob("ouzel*"))
    tempfile.tempdir = None


def test_an_empty_list_says_so(place: Place) -> None:
    listed = place.ask("list")
    assert (listed.exit_code, listed.stdout) == (0, "")
    assert listed.stderr == "no topology has been submitted; `ouzel submit FILE.sql` starts one\n"


def test_it_outlives_its_terminal_and_comes_back_when_all_its_processes_were_killed(place: Place) -> None:
    place.append(1)
    command = f"{sys.executable} -m ouzel submit {place.root / 'followed.sql'} && read line"
    shell, terminal = pty.fork()
    if shell == 0:
        os.execvp("sh", ["sh", "-c", command])
    said = b""
    while b"submitted 'followed'" not in said:
        said += os.read(terminal, 4_096)
    os.kill(shell, signal.SIGKILL)
    os.waitpid(shell, 0)
    os.close(terminal)
    wait_until(lambda: place.twice() == [2])
    place.append(2)
    wait_until(lambda: place.twice() == [2, 4])
    place.told("submit", place.root / "bounded.sql", "--name", "other")
    wait_until(lambda: place.condition("other") is Condition.FINISHED)
    place.kill_all("followed")
    place.append(3)
    assert place.twice() == [2, 4]
    assert place.told("start", "--all") == "started 'followed'\n"
    wait_until(lambda: place.twice() == [2, 4, 6])
    assert "running · " in place.told("status", "followed")
    other = {path: path.stat().st_mtime_ns for path in (place.home / "topologies/other").rglob("*")}
    killed = place.ask("kill", "followed")
    assert (killed.exit_code, killed.stderr) == (
        0,
        "killed 'followed': its results and logs are gone, tables that it wrote stay\n",
    )
    assert place.condition("followed") is None
    assert not (place.home / "topologies/followed").exists()
    assert {path: path.stat().st_mtime_ns for path in (place.home / "topologies/other").rglob("*")} == other
    assert place.rows("other") == [{"one": 1}]


@pytest.mark.whole
def test_each_command(place: Place) -> None:
    place.append(1)
    assert (
        place.told("submit", place.root / "followed.sql", "--name", "f", "--set", "batch.rows=10") == "submitted 'f'\n"
    )
    wait_until(lambda: place.twice("f") == [2])
    taken = place.ask("submit", place.root / "followed.sql", "--name", "f")
    assert taken.exit_code == 2
    assert "there is a submitted topology 'f' already, which runs" in taken.stderr
    place.told("pause", "f")
    assert place.condition("f") is Condition.PAUSED
    assert "paused" in place.told("list")
    place.append(2)
    place.told("resume", "f")
    wait_until(lambda: place.twice("f") == [2, 4])
    explained = place.told("explain", "f")
    assert "Logical plan" in explained
    assert "running · " in explained
    place.told("restart", "f", "lines[0]")
    wait_until(lambda: "lines[0]: " in place.told("logs", "f") or "restarted: " in place.told("status", "f"))
    place.told("restart", "f", "container-1")
    place.append(3)
    wait_until(lambda: place.twice("f") == [2, 4, 6])
    of_lines = place.told("logs", "f", "lines").splitlines()
    assert all(line.startswith("lines[0]: ") for line in of_lines)
    assert len(place.told("logs", "f").splitlines()) > len(of_lines)
    wrong = place.ask("restart", "f", "nobody")
    assert wrong.exit_code == 2
    assert "the topology has no part 'nobody'; write a component (lines, result)" in wrong.stderr
    place.told("restart", "f")
    assert place.ask("stop", "f").stderr == "stopped 'f'; `ouzel start f` starts it again\n"
    assert place.condition("f") is Condition.STOPPED
    ended = place.ask("pause", "f")
    assert ended.exit_code == 2
    assert "topology 'f' is stopped: start it again with `ouzel start f`" in ended.stderr
    place.append(4)
    place.told("start", "f")
    wait_until(lambda: place.twice("f") == [2, 4, 6, 8])


@pytest.mark.whole
def test_a_pause_is_still_one_when_all_processes_were_killed(place: Place) -> None:
    for name in ("followed", "counted"):
        place.append(1)
        place.told("submit", place.root / f"{name}.sql")
        wait_until(lambda name=name: place.rows(name, "changelog"))
        place.told("pause", name)
        place.kill_all(name)
        place.told("start", name)
        wait_until(lambda name=name: "paused · " in place.told("status", name))
        assert place.condition(name) is Condition.PAUSED
        place.told("resume", name)
        wait_until(lambda name=name: "running · " in place.told("status", name))


def test_what_keeps_state_goes_on_from_its_last_epoch_though_all_its_processes_were_killed(place: Place) -> None:
    place.append(1, 2, 3)
    place.told("submit", place.root / "counted.sql", "--set", "checkpoint.interval.ms=200")
    wait_until(lambda: place.rows("counted") == [{"odd": 0, "seen": 1}, {"odd": 1, "seen": 2}])
    wait_until(lambda: "complete" in place.ask("checkpoint", "list", "counted").stdout)
    place.kill_all("counted")
    place.append(4)
    place.told("start", "counted")
    wait_until(lambda: place.rows("counted") == [{"odd": 0, "seen": 2}, {"odd": 1, "seen": 2}])
    place.told("restart", "counted", "container-1")
    place.append(5)
    wait_until(lambda: place.rows("counted") == [{"odd": 0, "seen": 2}, {"odd": 1, "seen": 3}])
    place.told("stop", "counted")
    place.append(6)
    place.told("start", "counted")
    wait_until(lambda: place.rows("counted") == [{"odd": 0, "seen": 3}, {"odd": 1, "seen": 3}])


@pytest.mark.whole
def test_without_epochs_what_keeps_state_begins_anew_and_answers_right(place: Place) -> None:
    place.append(1, 2, 3)
    place.told("submit", place.root / "counted.sql", "--set", "checkpoint.interval.ms=0")
    wait_until(lambda: place.rows("counted") == [{"odd": 0, "seen": 1}, {"odd": 1, "seen": 2}])
    refused = place.ask("restart", "counted", "container-1")
    assert refused.exit_code == 2
    assert "may keep state, which would be lost; write `ouzel restart counted`" in refused.stderr
    place.kill_all("counted")
    place.append(4)
    place.told("start", "counted")
    wait_until(lambda: place.rows("counted") == [{"odd": 0, "seen": 2}, {"odd": 1, "seen": 2}])
    assert len(list((place.home / "topologies/counted/runs").iterdir())) == 1


@pytest.mark.whole
def test_an_example_answers_as_duckdb_does_after_all_its_processes_were_killed(place: Place, examples: Path) -> None:
    place.told("submit", examples / "flight_delays.sql", "--set", "batch.rows=500", "--set", "max.pending.rows=500")
    wait_until(lambda: place.rows("flight_delays"))
    place.kill_all("flight_delays")
    place.told("start", "flight_delays")
    wait_until(lambda: place.condition("flight_delays") is Condition.FINISHED)
    same(place.rows("flight_delays"), asked("flight_delays", examples))


@pytest.mark.whole
def test_of_two_that_submit_one_name_at_once_one_is_refused(place: Place) -> None:
    command = [sys.executable, "-m", "ouzel", "submit", str(place.root / "followed.sql")]
    clients = [subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    said = [client.communicate(timeout=120) for client in clients]
    assert sorted(client.returncode for client in clients) == [0, 2, 2], said
    assert sum(out == "submitted 'followed'\n" for out, _ in said) == 1
    assert all("followed" in err for _, err in said)


@pytest.mark.whole
def test_a_server_that_is_stopped_is_killed_all_the_same(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ouzel.runtime.cluster.submitted.control._ANSWER_S", 0.5)
    place.told("submit", place.root / "followed.sql")
    for pid in place.processes("followed"):
        os.kill(pid, signal.SIGSTOP)
    place.told("kill", "followed")
    assert place.condition("followed") is None


@pytest.mark.whole
def test_a_program_has_the_same(place: Place) -> None:
    place.append(1)
    with ouzel.submit(place.root / "followed.sql", "f") as run:
        assert next(iter(run)) == {"n": 1, "twice": 2}
    with ouzel.attach("f") as run:
        place.append(2)
        rows = iter(run)
        assert [next(rows), next(rows)] == [{"n": 1, "twice": 2}, {"n": 2, "twice": 4}]
        assert run.pause(60).state is RunState.PAUSED
        run.resume()
        assert run.stop().state is RunState.STOPPED
    assert place.condition("f") is Condition.STOPPED
    with pytest.raises(ouzel.SubmissionError, match="there is no submitted topology 'g'"):
        ouzel.attach("g")


@pytest.mark.whole
def test_a_stream_is_submitted_and_another_takes_its_place(place: Place) -> None:
    place.append(1)
    numbers = Source.file(place.lines, Number, format="json", follow="true")
    with ouzel.submit(numbers.map(_doubled), "stream") as run:
        assert next(iter(run)) == {"value": 2}
    with ouzel.update("stream", numbers.map(_doubled).filter(lambda number: number > 4)) as run:
        place.append(2)
        place.append(3)
        assert next(row for row in run if row["value"] > 2) == {"value": 6}
    assert ouzel.attach("stream").stop().state is RunState.STOPPED


class Number(NamedTuple):
    """A line of the file that grows."""

    n: int


def _doubled(number: Number) -> int:
    return 2 * number.n


@pytest.mark.whole
def test_a_program_is_run_up_to_its_first_start(place: Place) -> None:
    program = place.root / "doubled.py"
    program.write_text(
        dedent("""
        import ouzel

        class Numbers(ouzel.RowSpout):
            def next_row(self):
                return None

        if __name__ == "__main__":
            builder = ouzel.TopologyBuilder("numbers")
            builder.set_spout("numbers", Numbers(), ouzel.schema(n=int))
            ouzel.run(builder.build())
            raise AssertionError("not reached")
        """)
    )
    assert place.told("submit", program) == "submitted 'doubled'\n"
    assert "numbers" in place.told("explain", "doubled")
    program.write_text("print('nothing')")
    refused = place.ask("submit", program, "--name", "nothing")
    assert refused.exit_code == 2
    assert f"{program} starts no topology" in refused.stderr


def test_a_run_is_detached_by_its_own_name_or_not_at_all(place: Place) -> None:
    refused = place.ask("run", place.root / "bounded.sql", "--detach", "--engine", "memory")
    assert refused.exit_code == 2
    assert "it is for --engine heron" in refused.stderr
    assert place.told("run", place.root / "bounded.sql", "--detach") == "submitted 'bounded'\n"
    wait_until(lambda: place.condition("bounded") is Condition.FINISHED)
    assert place.told("results", "bounded", "-f", "--format", "jsonl") == '{"one": 1}\n'
    again = place.ask("start", "bounded")
    assert again.exit_code == 2
    assert "topology 'bounded' has finished: read its answer with `ouzel results bounded`" in again.stderr


@pytest.mark.whole
def test_what_keeps_no_state_answers_each_row_once_however_often_all_its_processes_are_killed(place: Place) -> None:
    place.append(*range(5_000))
    place.told("submit", place.root / "followed.sql", "--set", "batch.rows=200", "--set", "max.pending.rows=600")
    for end in range(10_000, 45_000, 10_000):
        wait_until(lambda end=end: len(place.twice()) > end - 10_000)
        place.append(*range(end - 5_000, end + 5_000))  # so that there is work when all die
        place.kill_all("followed")
        place.told("start", "followed")
    wait_until(lambda: len(place.twice()) >= 45_000)
    assert sorted(place.twice()) == list(range(0, 90_000, 2))


@pytest.mark.whole
def test_what_is_written_into_a_table_is_there_after_all_processes_were_killed(place: Place) -> None:
    query = place.root / "written.sql"
    out = "CREATE TABLE out (n BIGINT) WITH ('connector' = 'file', 'path' = 'out', 'format' = 'json', 'flush.interval.ms' = '50');"
    query.write_text(f"{FOLLOWED.split('SELECT')[0]} {out} INSERT INTO out SELECT n FROM lines;")
    parts = place.root / "out"

    def written() -> list[int]:
        return [json.loads(line)["n"] for part in parts.glob("part-*") for line in part.read_text().splitlines()]

    place.append(*range(100))
    place.told("submit", query)
    wait_until(lambda: len(written()) == 100)
    place.kill_all("written")
    place.append(*range(100, 200))
    place.told("start", "written")
    wait_until(lambda: set(written()) == set(range(200)))
    refused = place.ask("results", "written")
    assert refused.exit_code == 2
    assert "topology 'written' writes into tables and has no result" in refused.stderr


@pytest.mark.whole
def test_results_are_followed_until_ctrl_c_and_the_topology_runs_on(place: Place) -> None:
    place.append(1)
    place.told("submit", place.root / "followed.sql")
    command = [sys.executable, "-m", "ouzel", "results", "followed", "-f", "--format", "jsonl"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as client:
        assert client.stdout is not None
        assert json.loads(client.stdout.readline()) == {"n": 1, "twice": 2}
        place.append(2)
        assert json.loads(client.stdout.readline()) == {"n": 2, "twice": 4}
        client.send_signal(signal.SIGINT)
        assert client.wait(60) == 130
    assert place.condition("followed") is Condition.RUNNING
    logs = subprocess.Popen([sys.executable, "-m", "ouzel", "logs", "followed", "-f"], stdout=subprocess.DEVNULL)
    place.told("stop", "followed")
    assert logs.wait(60) == 0, "what is followed ends with the topology"


@pytest.mark.whole
def test_its_link_in_the_temporary_directory_is_kept_young_and_told_of_when_it_is_removed(place: Place) -> None:
    place.append(1)
    place.told("submit", place.root / "followed.sql")
    wait_until(lambda: place.twice() == [2])
    (link,) = (place.root / "tmp").glob("ouzel.*")
    os.utime(link, (0, 0), follow_symlinks=False)
    wait_until(lambda: link.lstat().st_mtime > 0)
    link.unlink()
    wait_until(lambda: place.condition("followed") is Condition.FAILED)
    place.append(2)
    place.told("start", "followed")
    wait_until(lambda: place.twice() == [2, 4])


@pytest.mark.whole
def test_it_ends_when_its_folder_is_removed_for_no_command_would_find_it(place: Place) -> None:
    place.append(1)
    place.told("submit", place.root / "followed.sql")
    wait_until(lambda: place.twice() == [2])
    (link,) = (place.root / "tmp").glob("ouzel.*")
    log = next(place.home.rglob("server.log")).open()
    place.home.rename(place.root / "moved")
    wait_until(lambda: not link.is_symlink())  # by then all of its processes have ended
    assert "was removed while the topology ran; submit it again" in log.read()


@pytest.mark.whole
def test_why_one_has_failed_is_kept_and_it_can_be_started_again(place: Place) -> None:
    place.append(1, 2)
    place.told("submit", place.root / "followed.sql")
    wait_until(lambda: place.twice() == [2, 4])
    kept = place.lines.read_text()
    place.lines.write_text("")
    wait_until(lambda: place.condition("followed") is Condition.FAILED)
    assert "reason: " in place.told("status", "followed")
    assert "lines.jsonl" in place.told("status", "followed")
    assert place.told("start", "--all") == "", "what has failed is not brought back unasked"
    place.lines.write_text(kept)
    assert place.ask("start", "followed").exit_code == 0


@pytest.mark.whole
def test_topologies_beside_each_other_share_nothing(place: Place) -> None:
    place.append(1)
    for name in ("a", "b"):
        place.told("submit", place.root / "followed.sql", "--name", name)
    wait_until(lambda: place.twice("a") == place.twice("b") == [2])
    place.kill_all("a")
    assert place.condition("b") is Condition.RUNNING
    place.told("kill", "a")
    place.append(2)
    wait_until(lambda: place.twice("b") == [2, 4])
