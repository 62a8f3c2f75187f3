"""One submitted topology for all tests of the tracker's routes: a submit takes seconds."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from typer.testing import CliRunner

from ouzel.cli.main import app as commands
from ouzel.runtime.cluster.submitted.registry import Registry
from ouzel.tracker.app import create_app
from tests.servers.waiting import wait_until

QUERY = """
CREATE TABLE lines (n BIGINT) WITH ('connector' = 'file', 'path' = 'lines.jsonl', 'format' = 'json', 'follow' = 'true');
SELECT n % 2 AS odd, COUNT(*) AS "<b>seen</b>" FROM lines GROUP BY n % 2 EMIT CHANGES;
"""
ROWS = 40


@dataclass(frozen=True)
class Tracked:
    """A topology that runs, and a tracker over it."""

    registry: Registry
    client: TestClient
    name: str
    user: str

    @property
    def whose(self) -> dict[str, str]:
        """The parameters of a request that names it."""
        return {"cluster": "local", "environ": "default", "topology": self.name}

    def get(self, route: str, **parameters: object) -> object:
        """What a route answers that must succeed."""
        answer = self.client.get(route, params={**self.whose, **parameters})
        assert answer.status_code == 200, answer.text
        return answer.json()

    @property
    def home(self) -> Path:
        """The job directory."""
        record = self.registry.find(self.name)
        assert record is not None
        return self.registry.folder(self.name).run(record.run)


@pytest.fixture(scope="module")
def tracked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tracked]:
    """It has read ROWS rows, and some of its metrics are on disk."""
    tmp_path_factory.getbasetemp()  # else it would be made in the temporary directory that is removed at the end
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory(prefix="oz") as folder:
        root = Path(folder)
        (root / "tmp").mkdir()
        patch.setenv("OUZEL_HOME", str(root / "home"))
        patch.setenv("TMPDIR", str(root / "tmp"))
        patch.setattr(tempfile, "tempdir", None)
        (root / "lines.jsonl").write_text("".join(f'{{"n": {n}}}\n' for n in range(ROWS)))
        (root / "counted.sql").write_text(QUERY)
        registry = Registry()
        try:
            options = ["--set", "trace.sample=1"]
            submitted = CliRunner().invoke(commands, ["submit", *options, str(root / "counted.sql")])
            assert submitted.exit_code == 0, submitted.output
            app = create_app(registry, owner_of=lambda client, server: os.getuid())
            with TestClient(app, base_url="http://localhost") as client:
                one = Tracked(registry, client, "counted", root.owner())
                wait_until(lambda: _has_metrics(one))
                yield one
        finally:
            for name in registry.names():
                CliRunner().invoke(commands, ["kill", name])


def _has_metrics(one: Tracked) -> bool:
    """All rows were read and acked, and each instance has told twice what its process takes: the bolt may start long after the spout."""
    plan = one.client.get("/topologies/physicalplan", params=one.whose).json()
    return (
        sum(_told(one, "lines", "__execute-count/default")) == ROWS
        and sum(_told(one, "lines", "__complete-count/default")) == ROWS
        and sum(_told(one, "count_by_key", "__execute-count/default")) > 0
        and all(_told(one, name, "__capacity") for name in (*plan["spouts"], *plan["bolts"]))
    )


def _told(one: Tracked, component: str, metric: str) -> list[float]:
    """What each instance of a component has told of a metric until now."""
    asked = {**one.whose, "component": component, "metricname": metric}
    return [
        float(value) for value in one.client.get("/topologies/metrics", params=asked).json()["metrics"][metric].values()
    ]
