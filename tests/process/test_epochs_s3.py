"""A topology under load whose epochs are in a real S3 server: tasks die, the server is away, and every count is right."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ouzel.runtime.run import ROLLED_BACK
from tests.process.test_epochs import Run, exact, run
from tests.servers.s3 import S3Server
from tests.servers.waiting import wait_until

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
