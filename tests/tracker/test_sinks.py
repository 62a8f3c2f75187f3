"""Metrics elsewhere: files for Grafana and Prometheus name only what there is to scrape, and Graphite gets each value."""

from __future__ import annotations

import json
import re
import shutil
import socket
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families
from typer.testing import CliRunner

from ouzel.cli.main import app as commands
from ouzel.runtime.cluster.submitted.registry import Registry
from ouzel.runtime.observe.task_metrics import CONTAINER, CPU_TIME, MEMORY, MetricsSample
from ouzel.runtime.process.metrics_file import MetricsWriter
from ouzel.runtime.protocol.cluster.submitted import Condition, Submitted
from ouzel.tracker.metrics.graphite import GraphiteSender, format_lines
from ouzel.tracker.metrics.history import History
from ouzel.tracker.metrics.monitoring import ALERTS, DASHBOARD, RULES, query_of
from ouzel.tracker.metrics.new_samples import find_containers
from ouzel.tracker.metrics.prometheus import exposition, labels_of, list_families
from tests.tracker.snapshots import EVIL, make_snapshot

PROMTOOL = shutil.which("promtool")


def scraped_names() -> set[str]:
    """What can be scraped, by the names that queries use."""
    return {f"{one.name}_total" if one.type == "counter" else one.name for one in list_families()}


def test_the_files_name_only_what_there_is_to_scrape_and_all_of_it(tmp_path: Path) -> None:
    done = CliRunner().invoke(commands, ["metrics", "dashboards", str(tmp_path / "made")])
    assert (done.exit_code, done.output.split()) == (0, [str(tmp_path / "made" / name) for name in (DASHBOARD, RULES)])
    board = json.loads((tmp_path / "made" / DASHBOARD).read_text())
    asked = {name for panel in board["panels"] for name in re.findall(r"ouzel_\w+", panel["targets"][0]["expr"])}
    assert asked == scraped_names()
    places = {tuple(panel["gridPos"].values()) for panel in board["panels"]}
    assert len(places) == len(board["panels"]) == len(scraped_names())
    rules = yaml.safe_load((tmp_path / "made" / RULES).read_text())
    (group,) = rules["groups"]
    assert [rule["alert"] for rule in group["rules"]] == [alert.name for alert in ALERTS]
    for rule in group["rules"]:
        named = set(re.findall(r"ouzel_\w+", rule["expr"]))
        assert named
        assert named <= scraped_names()


@pytest.mark.skipif(PROMTOOL is None, reason="promtool is not installed: it comes with Prometheus")
def test_prometheus_takes_the_rules_and_the_queries_of_the_dashboard(tmp_path: Path) -> None:
    CliRunner().invoke(commands, ["metrics", "dashboards", str(tmp_path)])
    queries = [query_of(family)[0].replace("$__rate_interval", "1m") for family in list_families()]
    rules = [{"record": f"panel:{number}", "expr": text} for number, text in enumerate(queries)]
    (tmp_path / "panels.yml").write_text(json.dumps({"groups": [{"name": "panels", "rules": rules}]}))
    command = [str(PROMTOOL), "check", "rules", str(tmp_path / RULES), str(tmp_path / "panels.yml")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_containers_are_scraped() -> None:
    known = History()
    for time_s in (50, 100):
        known.add([MetricsSample(time_s, CONTAINER, 1, 1, frozenset(), {CPU_TIME: time_s * 10**9}, {MEMORY: 4096})])
    text = exposition([(make_snapshot(), known)], 105).decode()
    values = {
        sample.name: sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if sample.labels.get("container") == "1"
    }
    assert values == {"ouzel_container_cores": 1.0, "ouzel_container_memory_bytes": 4096.0}
    for family in text_string_to_metric_families(text):
        for one in family.samples:
            assert tuple(sorted(one.labels)) == tuple(sorted(labels_of(family)))


def sample(time_s: int, rows: int) -> MetricsSample:
    """What a task of a component with a bad name says."""
    return MetricsSample(time_s, EVIL, 3, 1, frozenset(), {"__emit-count/default": rows}, {"__lag": 0.5})


def test_a_line_has_a_path_a_value_and_a_time() -> None:
    first, second = format_lines("ouzel", "a.b c", sample(60, 12))
    assert first == "ouzel.a_b_c.script_alert_1_script_amp.3.emit-count_default 12 60\n"
    assert second == "ouzel.a_b_c.script_alert_1_script_amp.3.lag 0.5 60\n"


class Carbon:
    """A server that takes lines as Graphite's carbon does."""

    def __init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = self._listener.getsockname()
        self._listener.settimeout(60)
        self._connection: socket.socket | None = None
        self._text = b""

    def lines(self, wanted: int) -> list[str]:
        """The next lines that come, so many."""
        while self._text.count(b"\n") < wanted:
            if self._connection is None:
                self._connection, _ = self._listener.accept()
                self._connection.settimeout(60)
            self._text += self._connection.recv(1 << 16)
        *found, self._text = self._text.split(b"\n", wanted)
        return [line.decode() for line in found]

    def hang_up(self) -> None:
        """Close the connection, as a server does that is started again."""
        if self._connection is not None:
            self._connection.close()
        self._connection = None

    def close(self) -> None:
        """Be gone."""
        self.hang_up()
        self._listener.close()


@pytest.fixture
def carbon() -> Iterator[Carbon]:
    """One that listens."""
    server = Carbon()
    yield server
    server.close()


def numbered(lines: list[str]) -> list[int]:
    """The values of the counts among these."""
    return [int(line.split()[1]) for line in lines if "emit-count" in line]


def test_graphite_gets_what_is_kept_and_what_comes_also_when_it_was_away(tmp_path: Path, carbon: Carbon) -> None:
    writer = MetricsWriter(tmp_path)
    writer.write([sample(10, 1), sample(20, 2)], 20)
    sender = GraphiteSender(lambda: [("made", tmp_path)], carbon.address)
    assert sender.send() == 4
    assert numbered(carbon.lines(4)) == [1, 2]
    assert sender.send() == 0
    writer.write([sample(30, 3)], 30)
    carbon.hang_up()
    assert sender.send() == 2
    assert numbered(carbon.lines(2)) == [3]
    carbon.close()
    writer.write([sample(40, 4)], 40)
    for _ in range(2):
        with pytest.raises(OSError, match=r".*"):
            sender.send()
    again = Carbon()
    sender._address = again.address
    assert sender.send() == 2
    assert numbered(again.lines(2)) == [4]
    sender.close()
    again.close()


@pytest.fixture
def submitted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], Registry]:
    """A registry with a topology that has told something."""
    monkeypatch.setenv("OUZEL_HOME", str(tmp_path / "home"))
    registry = Registry()
    registry.put(Submitted("made", "made-1", 1, Condition.STOPPED, 0, True))
    folder = registry.folder("made").run("made-1") / "container-1"
    folder.mkdir(parents=True)
    MetricsWriter(folder).write([sample(10, 7)], 10)
    return lambda: registry


def test_the_command_sends_the_metrics_of_all_topologies(submitted: Callable[[], Registry], carbon: Carbon) -> None:
    assert [name for name, _ in find_containers(submitted())] == ["made"]
    host, port = carbon.address
    done = CliRunner().invoke(commands, ["metrics", "graphite", f"{host}:{port}", "--once", "--prefix", "top"])
    assert (done.exit_code, done.output) == (0, "")
    assert carbon.lines(2)[0].startswith("top.made.")
    carbon.close()
    away = CliRunner().invoke(commands, ["metrics", "graphite", f"{host}:{port}", "--once"])
    assert (away.exit_code, "Graphite cannot be reached" in away.output) == (1, True)
    wrong = CliRunner().invoke(commands, ["metrics", "graphite", "host:port", "--once"])
    assert wrong.exit_code == 2
