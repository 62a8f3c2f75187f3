"""A real Prometheus scrapes the pages' server, answers what the dashboard asks of it, and its rules fire."""

from __future__ import annotations

import json
import shutil
import signal
import socket
import subprocess
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import urlencode

import pytest
import uvicorn
import yaml
from typer.testing import CliRunner

from ouzel.cli.main import app as commands
from ouzel.tracker.metrics.monitoring import RULES, query_of
from ouzel.tracker.metrics.prometheus import list_families
from ouzel.tracker.serve import listen
from tests.servers.waiting import wait_until
from tests.tracker.conftest import ROWS, Tracked

PROMETHEUS = shutil.which("prometheus")

pytestmark = [
    pytest.mark.server,
    pytest.mark.skipif(PROMETHEUS is None, reason="prometheus is not installed: make prometheus"),
]


class Prometheus:
    """A server that scrapes an address each second."""

    def __init__(self, folder: Path, scraped: str) -> None:
        CliRunner().invoke(commands, ["metrics", "dashboards", str(folder)])
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.address = f"127.0.0.1:{free.getsockname()[1]}"
        jobs = [{"job_name": "ouzel", "static_configs": [{"targets": [scraped]}]}]
        settings = {"scrape_interval": "1s", "evaluation_interval": "1s"}
        config = {"global": settings, "rule_files": [str(folder / RULES)], "scrape_configs": jobs}
        (folder / "prometheus.yml").write_text(yaml.safe_dump(config))
        self._log = (folder / "log").open("w")
        self._process = subprocess.Popen(
            [
                str(PROMETHEUS),
                f"--config.file={folder / 'prometheus.yml'}",
                f"--storage.tsdb.path={folder / 'data'}",
                f"--web.listen-address={self.address}",
            ],
            stdout=self._log,
            stderr=self._log,
        )

    def ask(self, route: str, **parameters: str) -> Any:
        """What its API answers; None while it does not."""
        try:
            with urllib.request.urlopen(
                f"http://{self.address}/api/v1/{route}?{urlencode(parameters)}", timeout=10
            ) as answer:
                return json.load(answer)["data"]
        except OSError:
            return None

    def value(self, query: str) -> float | None:
        """The value of a query with one series."""
        found = self.ask("query", query=query)
        return float(found["result"][0]["value"][1]) if found and len(found["result"]) == 1 else None

    def close(self) -> None:
        """End it."""
        self._process.send_signal(signal.SIGTERM)
        self._process.wait(60)
        self._log.close()


@pytest.fixture
def prometheus(tracked: Tracked, tmp_path: Path) -> Iterator[Prometheus]:
    """One that scrapes the tracker."""
    listener = listen("127.0.0.1", 0)
    server = uvicorn.Server(uvicorn.Config(tracked.client.app, log_level="warning", lifespan="off"))  # type: ignore[arg-type]
    thread = Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    started = Prometheus(tmp_path, f"127.0.0.1:{listener.getsockname()[1]}")
    yield started
    started.close()
    server.should_exit = True
    thread.join(60)


def test_it_has_what_the_tracker_tells(tracked: Tracked, prometheus: Prometheus) -> None:
    wait_until(lambda: prometheus.value(f'ouzel_rows_in_total{{topology="{tracked.name}"}}') == ROWS)
    assert prometheus.value(f'ouzel_task_rows_in_total{{topology="{tracked.name}", component="lines"}}') == ROWS
    states = prometheus.ask("query", query=f'ouzel_topology_state{{topology="{tracked.name}"}} == 1')
    assert [one["metric"]["state"] for one in states["result"]] == ["running"]
    for family in list_families():
        asked = prometheus.ask("query", query=query_of(family)[0].replace("$__rate_interval", "1m"))
        assert asked is not None, family.name
    (group,) = prometheus.ask("rules")["groups"]
    assert {rule["health"] for rule in group["rules"]} <= {"ok", "unknown"}
