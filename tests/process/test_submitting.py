"""What can be said of submitted topologies before any process is started: names that are held, refusals, the control socket."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest
from typer.testing import CliRunner

from ouzel import session
from ouzel.cli.main import app
from ouzel.errors import NotSupported, QueryError, SubmissionError, TopologyError
from ouzel.runtime.checkpoints.store import CheckpointStore
from ouzel.runtime.cluster.submitted.control import SOCKET, ControlSocket, tell_server
from ouzel.runtime.cluster.submitted.folder import About, TopologyFolder
from ouzel.runtime.cluster.submitted.launch import check_can_be_kept, find_stateful
from ouzel.runtime.cluster.submitted.registry import Registry, find_ouzel_home
from ouzel.runtime.process.job import RunDescription
from ouzel.runtime.process.life import start_time
from ouzel.runtime.process.process_table import ProcessTable
from ouzel.runtime.protocol.cluster.processes import ProcessEntry
from ouzel.runtime.protocol.cluster.submitted import Condition, Submitted, Verb
from ouzel.submitting import name_for, submit_job
from tests.checkpoints.samples import write_epoch

TABLE = "CREATE TABLE t (n BIGINT) WITH ('connector' = 'datagen', 'rate' = '5');"
RECORD = Submitted("clicks", "clicks-0a", 1, Condition.RUNNING, 5, goes_on=True)


@pytest.fixture
def registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Registry:
    """An empty one, in OUZEL_HOME."""
    monkeypatch.setenv("OUZEL_HOME", str(tmp_path))
    return Registry()


def test_a_name_is_changed_by_one_command_at_a_time(registry: Registry) -> None:
    other = Registry(registry.home)
    with registry.changing(Verb.SUBMIT, "clicks"):
        with pytest.raises(SubmissionError, match="topology 'clicks' is being changed by another command"):
            other.changing(Verb.SUBMIT, "clicks").__enter__()
        with other.changing(Verb.SUBMIT, "others"):
            registry.put(RECORD)
    with pytest.raises(SubmissionError, match="there is a submitted topology 'clicks' already, which was interrupted"):
        other.changing(Verb.SUBMIT, "clicks").__enter__()
    assert other.names() == ["clicks"]


def test_a_topology_lives_as_long_as_its_name_is_held(registry: Registry) -> None:
    record = registry.put(RECORD)
    assert registry.condition(record) is Condition.INTERRUPTED
    keeper = Registry(registry.home)
    assert keeper.keep("clicks")
    assert not Registry(registry.home).keep("clicks")
    assert registry.condition(record) is Condition.RUNNING
    keeper._state.close()
    assert registry.condition(record) is Condition.INTERRUPTED
    registry.remove("clicks")
    assert registry.find("clicks") is None


@pytest.mark.parametrize(
    "verb", ["status", "logs", "results", "explain", "pause", "resume", "restart", "stop", "kill", "start"]
)
@pytest.mark.usefixtures("registry")
def test_a_verb_on_what_is_not_there_is_refused(verb: str) -> None:
    result = CliRunner().invoke(app, [verb, "clicks"])
    assert result.exit_code == 2
    assert "there is no submitted topology 'clicks'; `ouzel list` shows all that there are" in result.stderr


def test_where_it_is_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("OUZEL_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert find_ouzel_home() == tmp_path / ".ouzel"
    monkeypatch.setenv("OUZEL_HOME", "/srv/ouzel")
    assert find_ouzel_home() == Path("/srv/ouzel")


def test_a_folder_where_nothing_can_be_kept_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(SubmissionError, match=r"cannot be kept in .*/file/home: Not a directory; set OUZEL_HOME"):
        Registry(tmp_path / "file/home")


def test_a_secret_in_the_query_is_refused_and_nothing_is_left(
    registry: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OUZEL_SECRET_T_PASSWORD", "")
    query = tmp_path / "q.sql"
    query.write_text(
        "CREATE TABLE t (n BIGINT, PRIMARY KEY (n) NOT ENFORCED) WITH ('connector' = 'postgres', 'url' = 'postgresql://db/d', "
        "'username' = 'u', 'password' = 'hunter2', 'table' = 't'); INSERT INTO t SELECT 1 AS n;"
    )
    result = CliRunner().invoke(app, ["submit", str(query)])
    assert result.exit_code == 2, result.output
    assert (
        "a secret stands in the query, and a start after this one would not have it; write '${env:NAME}'"
        in result.stderr
    )
    assert "hunter2" not in result.output
    assert registry.names() == []
    assert not list((registry.home / "topologies").iterdir())


@pytest.mark.usefixtures("registry")
def test_what_cannot_be_kept_is_refused() -> None:
    job = session.load_text(f"{TABLE} SELECT n FROM t;", Path(), "q", [("state.manager", "zookeeper://nowhere:1")])
    with pytest.raises(NotSupported, match=r"not supported with state.manager = 'zookeeper://nowhere:1'"):
        check_can_be_kept(job.topology)
    job = session.load_text(f"{TABLE} SELECT n FROM t;", Path(), "q", [("checkpoint.path", "s3://me:hidden@bucket/a")])
    with pytest.raises(NotSupported, match=r"an address of S3 holds a bucket and a prefix, and nothing else") as told:
        check_can_be_kept(job.topology)
    assert "hidden" not in str(told.value)
    with pytest.raises(QueryError, match="asks for nothing that runs"):
        submit_job(session.load_text("SHOW FUNCTIONS;", Path(), "q"), "q")


@pytest.mark.parametrize(
    ("select", "keeps_state"),
    [
        ("SELECT n FROM t WHERE n > 5", False),
        ("SELECT n, COUNT(*) AS seen FROM t GROUP BY n EMIT CHANGES", True),
        ("SELECT DISTINCT n FROM t EMIT CHANGES", True),
        ("SELECT a.n FROM t AS a JOIN t AS b ON a.n = b.n", True),
    ],
)
def test_what_keeps_state_is_known(select: str, keeps_state: bool) -> None:
    assert bool(find_stateful(session.load_text(f"{TABLE} {select};", Path(), "q").topology)) == keeps_state


@pytest.mark.parametrize(("text", "name"), [("flight_delays", "flight_delays"), ("a b/ü", "a_b"), ("..", "query")])
def test_a_name_that_is_made_of_a_file_s(text: str, name: str) -> None:
    assert name_for(text) == name


@pytest.fixture
def served() -> Iterator[tuple[Path, list[dict[str, Any]]]]:
    """A control socket that is looked at, and what it was told."""
    told: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory(prefix="oz") as name:
        control, ended = ControlSocket(Path(name), b"token"), Event()

        def carry(asked: dict[str, Any]) -> str:
            told.append(asked)
            return "it cannot" if asked["do"] == "fly" else ""

        def serve() -> None:
            while not ended.wait(0.01):
                control.serve(carry)

        thread = Thread(target=serve)
        thread.start()
        yield Path(name), told
        ended.set()
        thread.join()


def test_a_server_hears_who_knows_the_token(served: tuple[Path, list[dict[str, Any]]]) -> None:
    home, told = served
    assert stat.S_IMODE((home / SOCKET).stat().st_mode) == 0o600
    tell_server(home, b"token", do="restart", container=1)
    assert told == [{"do": "restart", "container": 1}]
    with pytest.raises(SubmissionError, match=r"^it cannot$"):
        tell_server(home, b"token", do="fly")
    with pytest.raises(SubmissionError, match="does not carry the token of this topology"):
        tell_server(home, b"guess", do="end")
    assert {"do": "end"} not in told


def test_a_server_that_is_gone_does_not_answer(tmp_path: Path) -> None:
    with pytest.raises(SubmissionError, match="the server of the topology does not answer"):
        tell_server(tmp_path, b"token", do="end")


def save(folder: TopologyFolder, options: str = "", directory: Path = Path()) -> RunDescription:
    """Keep a small topology there; the description of its first run."""
    job = session.load_text(f"{options} {TABLE} SELECT n FROM t;", Path(), "clicks")
    described = RunDescription("clicks", folder.submitted, directory, job.topology, job.packing, detached=True)
    folder.save(described, [], About("plan", None, (), resumes=False), [])
    return folder.begin_run("clicks", 1)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[TopologyFolder]:
    """That of one topology, whose own path is too long for sockets."""
    with tempfile.TemporaryDirectory(prefix="oz") as name:
        monkeypatch.setenv("TMPDIR", name)
        monkeypatch.setattr(tempfile, "tempdir", None)
        yield TopologyFolder(tmp_path / ("x" * 100) / "clicks")
    tempfile.tempdir = None


def test_sockets_have_room_however_long_the_path_of_ouzel_home_is(folder: TopologyFolder) -> None:
    job = save(folder)
    assert job.home.resolve() == folder.run(job.id).resolve()
    ControlSocket(job.home, job.token())
    assert (folder.run(job.id) / SOCKET).is_socket()
    folder.remove()
    assert not job.home.is_symlink()
    assert not folder.path.exists()


@pytest.mark.parametrize(
    ("options", "kept"),
    [("", "topologies/clicks/runs/{run}/checkpoints"), ("SET 'checkpoint.path' = 'elsewhere';", "elsewhere")],
)
def test_checkpoints_are_found_by_the_name_of_their_topology(options: str, kept: str, registry: Registry) -> None:
    folder = registry.folder("clicks")
    job = save(folder, options, registry.home)
    registry.put(RECORD, run=job.id)
    place = registry.home / kept.format(run=job.id)
    write_epoch(CheckpointStore(place), 7)
    told = CliRunner().invoke(app, ["checkpoint", "verify", "clicks"])
    assert (told.exit_code, told.stdout.split(":")[0]) == (0, "epoch 7")
    folder.remove()
    assert place.exists() == bool(options), "what `kill` removes is below OUZEL_HOME"


@pytest.mark.parametrize("file", ["about", "topology"])
def test_what_was_not_submitted_is_not_loaded(folder: TopologyFolder, file: str) -> None:
    save(folder)
    signed = folder.submitted / file
    signed.write_bytes(signed.read_bytes()[:-1] + b"!")
    with pytest.raises(TopologyError, match="its signature is wrong"):
        folder.about() if file == "about" else folder.begin_run("clicks", 2)


def test_a_run_that_goes_on_knows_no_process_of_before(folder: TopologyFolder) -> None:
    job = save(folder)
    container = folder.run(job.id) / "container-1"
    container.mkdir()
    table = ProcessTable(container)
    table.note("instance-1", ProcessEntry(os.getpid(), start_time(os.getpid()), 3))
    table.failed = "it failed"
    table.write()
    assert table.find_running("instance-1") is not None
    again = folder.continue_run(job.id, stays_paused=False)
    assert not job.home.is_symlink()
    assert again.home.is_symlink()
    table = ProcessTable(again.container(1))
    table.read()
    assert table.find_running("instance-1") is None
    assert table.entries["instance-1"].incarnation == 3, "its successor is told from it"
    table.note("instance-1", ProcessEntry(os.getpid(), start_time(os.getpid()), 4))
    assert table.count_restarts() == 0, "the topology was started, and no process died"
    assert table.failed == ""
    folder.remove()
