"""Files of a topology that are damaged, or not files: its page is there all the same, and says which, and what is not known for that."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from bs4 import BeautifulSoup
from fastapi.testclient import TestClient
from typer.testing import CliRunner

from ouzel.cli.main import app as commands
from ouzel.runtime.checkpoints.manifest import Manifest, TaskFiles, manifest_name
from ouzel.runtime.checkpoints.store import CheckpointStore
from ouzel.runtime.cluster.submitted.folder import About
from ouzel.runtime.cluster.submitted.registry import Registry
from ouzel.runtime.observe.reconciled import KeptReconciliations, ReconciliationSummary, new_id
from ouzel.runtime.observe.samples import samples_path, write_row_samples
from ouzel.runtime.observe.state_summaries import summaries_path, write_state_summaries
from ouzel.runtime.observe.task_metrics import MetricsSample
from ouzel.runtime.process.asks import Ask, AskKind, ask_path, write_ask
from ouzel.runtime.process.job import KEY
from ouzel.runtime.process.metrics_file import MetricsWriter
from ouzel.runtime.process.process_table import ProcessTable
from ouzel.runtime.protocol.cluster.submitted import Condition, Submitted
from ouzel.tracker.app import create_app
from ouzel.tracker.metrics.history import RunHistory
from tests.tracker.snapshots import make_snapshot

Damage = Callable[[Path], None]


def put(text: str) -> Damage:
    """Have a file hold that."""
    return lambda path: path.write_text(text) and None


def be_folder(path: Path) -> None:
    """Put a directory in the place of a file."""
    path.unlink()
    path.mkdir()


def cut(path: Path) -> None:
    """Leave the first half of a file."""
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])


DAMAGE = {
    "empty": put(""),
    "cut": cut,
    "zeros": put("\x00" * 100),
    "a list": put("[1]"),
    "null": put("null"),
    "deep": put("[" * 100_000),
    "a folder": be_folder,
}


def each_damage(path: Path) -> Iterator[str]:
    """Damage a file in each way, one after the other; which it is. Afterwards the file is as it was."""
    content = path.read_bytes()
    for how, damage in DAMAGE.items():
        damage(path)
        yield how
        if path.is_dir():
            path.rmdir()
        path.write_bytes(content)


class Damaged:
    """A submitted topology that is stopped, with all files that its page reads."""

    def __init__(self, root: Path) -> None:
        self.registry = Registry(root)
        folder = self.registry.folder("made")
        home = folder.run("made-1")
        self.job = replace(make_snapshot().job, home=home, directory=root)
        folder.save(self.job, [], About("", None, (), False), [])
        home.mkdir(mode=0o700, parents=True)
        shutil.copy2(folder.submitted / KEY, home / KEY)
        self.job.save()
        for name in ("made", "other"):
            self.registry.put(Submitted(name, f"{name}-1", 1, Condition.STOPPED, 0, True))
        self.container = self.job.container(1)
        self.container.mkdir()
        ProcessTable(self.container).write()
        write_row_samples(self.container, 1, '[{"operator": "x", "columns": [], "rows": [], "at_us": 1}]')
        write_state_summaries(self.container, 1, [], 1)
        for kind in AskKind:
            write_ask(ask_path(self.container, kind, 1), Ask("on", 1))
        self.store = CheckpointStore(self.job.checkpoints)
        for epoch in (1, 2):
            tasks = tuple(TaskFiles(task.component, task.index, ()) for task in self.job.topology.tasks())
            self.store.complete(Manifest(epoch, "made", 0, epoch, tasks))
        self.client = TestClient(create_app(self.registry, read_only=True), base_url="http://localhost")

    def page(self, path: str = "topology/made") -> str:
        """The text of a page that must be there."""
        answer = self.client.get(f"/{path}")
        assert answer.status_code == 200, answer.text
        return BeautifulSoup(answer.text, "html.parser").text


@pytest.fixture
def damaged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Damaged:
    """Nothing is damaged yet, and the page says nothing of that."""
    monkeypatch.setenv("OUZEL_HOME", str(tmp_path))
    one = Damaged(tmp_path)
    assert "cannot be read" not in one.page() + one.page("")
    return one


@pytest.mark.parametrize(
    "name",
    [
        samples_path(Path(), 1).name,
        summaries_path(Path(), 1).name,
        *(ask_path(Path(), kind, 1).name for kind in AskKind),
    ],
)
def test_what_is_asked_of_a_task_and_what_it_has_told(damaged: Damaged, name: str) -> None:
    path = damaged.container / name
    for how in each_damage(path):
        assert f"{path} cannot be read: it is damaged, or no file" in damaged.page(), how
    assert "cannot be read" not in damaged.page()


def test_the_table_of_processes(damaged: Damaged) -> None:
    path = damaged.container / "processes.json"
    for how in each_damage(path):
        assert f"which processes of container-1 run cannot be read in {path}: " in damaged.page(), how


def test_an_epoch(damaged: Damaged) -> None:
    path = Path(damaged.store.objects.where(manifest_name(2)))
    for how in each_damage(path):
        page = BeautifulSoup(damaged.client.get("/topology/made").text, "html.parser")
        assert "epoch 2 cannot be read: " in page.text, how
        assert [row.text for row in page.select("#epochs tbody th")] == ["1"], "the one before is shown"


def test_a_record(damaged: Damaged) -> None:
    told = "the record of 'made' cannot be read in "
    for how in each_damage(damaged.registry.home / "state/submitted/made/=data"):
        page = damaged.page("")
        assert told in page, how
        assert "other" in page
        answer = damaged.client.get("/topology/made")
        assert (answer.status_code, told in BeautifulSoup(answer.text, "html.parser").text) == (404, True)
        listed = CliRunner().invoke(commands, ["list"])
        assert told in listed.output
        assert "other" in listed.output
        assert listed.exit_code != 0
    assert told not in damaged.page("")


def test_a_folder_in_the_place_of_metrics(tmp_path: Path) -> None:
    path = tmp_path / "container-1" / "metrics-0.jsonl"
    path.mkdir(parents=True)
    history = RunHistory(tmp_path, [1])
    assert history.read(0).problems == (f"metrics cannot be read in {path}: Is a directory; figures are without them",)
    path.rmdir()
    assert history.read(0).problems == ()


RUBBISH = ("x", "[1]", "null", "[" * 100_000, '{"time_s": 1}', "\x00" * 9)


def test_lines_of_metrics(damaged: Damaged) -> None:
    sample = MetricsSample(10, "lines", 1, 0, frozenset(), {"__emit-count/default": 5}, {"__lag": 1.0})
    path = damaged.container / "metrics-0.jsonl"
    wrong = [replace(sample, **{name: value}) for name, value in ASTRAY.items()]
    MetricsWriter(damaged.container).write([sample, *wrong, replace(sample, time_s=20)], 20)
    with path.open("a") as file:
        file.writelines(f"{line}\n" for line in RUBBISH)
    MetricsWriter(damaged.container).write([replace(sample, time_s=30)], 30)
    count = len(RUBBISH) + len(wrong)
    told = f"{count} lines of {path} cannot be read: damaged, or left half by a process that was killed; figures are without what they said"
    assert [damaged.page().count(told), damaged.page().count(told)] == [1, 1]
    history = RunHistory(damaged.job.home, [1]).read(30)
    assert history.over(("lines", 1), "__emit-count/default", 0) == 5
    assert history.began_s == 10


ASTRAY: dict[str, Any] = {
    "time_s": "10",
    "component": 1,
    "instance": 1.5,
    "counts": {"__emit-count/default": "5"},
    "values": {"__lag": None},
}
"""Of each field what a line may hold that is JSON, and no sample."""


def test_a_reconciliation(damaged: Damaged) -> None:
    kept = KeptReconciliations(damaged.registry.home)
    good, bad = (
        ReconciliationSummary(new_id(), "made", "t", at_us, f"verdict {at_us}", True, False, 1, 0, 0)
        for at_us in (1, 2)
    )
    kept.keep(good, "<p>report</p>")
    kept.keep(bad, "<p>report</p>")
    path = kept.folder / f"{bad.id}.json"
    told = f"{path} cannot be read: it is damaged, or no file; its reconciliation is not shown"
    for how in chain(each_damage(path), _with_wrong_fields(path)):
        for page in ("", "reconciliations", "pages/reconciliations"):
            assert damaged.page(page).count(told) == 1, how
        assert "verdict 1" in damaged.page("reconciliations"), "nothing else is lost"
        assert "verdict 1" in damaged.page(), how
        assert told in BeautifulSoup(damaged.client.get(f"/reconciliations/{bad.id}").text, "html.parser").text, how
    assert "cannot be read" not in damaged.page("reconciliations") + damaged.page("")
    path.unlink()
    assert "cannot be read" not in damaged.page("reconciliations"), "a report whose writer died is nothing to tell of"


def _with_wrong_fields(path: Path) -> Iterator[str]:
    content = path.read_text()
    for name, value in {"matched": "7", "is_live": 1, "changed": [1], "at_us": None}.items():
        path.write_text(json.dumps(json.loads(content) | {name: value}))
        yield name
    path.write_text(content)
