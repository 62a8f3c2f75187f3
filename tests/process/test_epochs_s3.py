"""A topology under load whose epochs are in a real S3 server: tasks die, the server is away, and every count is right."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ouzel.runtime.checkpoints.objects import parse_store_place
from ouzel.runtime.checkpoints.store import CheckpointStore
from ouzel.runtime.run import ROLLED_BACK
from tests.cli.test_savepoints import COUNT, add, counts, write
from tests.cli.test_submitted import Place, place
from tests.process.test_epochs import Run, exact, run
from tests.servers.s3 import S3Server
from tests.servers.waiting import wait_until

__all__ = ["place"]
pytestmark = pytest.mark.server


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[S3Server]:
    """A server, whose keys are in the environment. The endpoint is a setting."""
    made = S3Server(tmp_path / "s3")
    for name, value in made.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("AWS_ENDPOINT_URL")
    yield made
    made.kill()


@pytest.fixture
def often(tmp_path: Path, server: S3Server) -> Iterator[Run]:
    """A run with many epochs in it."""
    made = run(tmp_path, 300, ("checkpoint.path", "s3://kept/ticks"), ("checkpoint.endpoint", server.endpoint))
    yield made
    made.handle._scheduler.on_kill()


def test_tasks_die_and_the_store_is_away_and_every_count_is_right(often: Run, server: S3Server) -> None:
    often.wait_for_epochs(1)
    often.kill(often.instances("aggregate")[0])
    often.wait_for_event(ROLLED_BACK)
    often.wait_for_epochs(1)
    server.kill()
    often.wait_for_event("epoch-failed")
    assert any("s3://kept/ticks" in text for text in often.events("epoch-failed"))
    before = often.handle.status().rows_acked
    wait_until(lambda: often.handle.status().rows_acked > before + 1_000, told=often.handle.status)
    often.kill(often.instances("aggregate")[1])
    server.start()
    often.wait_for_event(ROLLED_BACK, 2)
    often.wait_for_epochs(1)
    exact(often)
    assert {path.name for path in (server.objects / "ticks").iterdir()} >= {"epochs", "leaders", "owner", "tasks"}
    assert not list(often.handle.job.directory.glob("s3:*"))


def test_a_topology_goes_on_from_there_after_its_host_is_gone_and_so_does_another_from_a_savepoint(
    place: Place, server: S3Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", server.endpoint)
    file = write(place, "SET 'checkpoint.interval.ms' = '200';\n" + COUNT)
    add(place, "word0", "word1", "word1")
    place.told("submit", file, "--set", "checkpoint.path=s3://kept/counted")
    store = CheckpointStore(parse_store_place("s3://kept/counted"))
    wait_until(lambda: counts(place, "counted") == {"word0": 1, "word1": 2} and bool(store.epochs()))
    assert "complete" in place.told("checkpoint", "list", "counted")
    place.kill_all("counted")
    with monkeypatch.context() as without:
        without.delenv("AWS_SECRET_ACCESS_KEY")
        result = place.ask("start", "counted")
        assert (result.exit_code, "which lacks AWS_SECRET_ACCESS_KEY; set it" in result.stderr) == (2, True)
    place.told("start", "counted")
    add(place, "word1")
    wait_until(lambda: counts(place, "counted") == {"word0": 1, "word1": 3})
    assert "in s3://kept/monday" in place.told("stop", "counted", "--savepoint", "s3://kept/monday")
    add(place, "word2")
    again = ("--name", "again", "--set", "checkpoint.path=s3://kept/again")
    place.told("submit", "--from", "s3://kept/monday", file, *again)
    wait_until(lambda: counts(place, "again") == {"word0": 1, "word1": 3, "word2": 1})
    assert CheckpointStore(parse_store_place("s3://kept/again")).epochs()
    other = place.ask("submit", file, "--name", "other", "--set", "checkpoint.path=s3://kept/again")
    assert "s3://kept/again holds the checkpoints of topology" in other.output.replace("\n", " ")
