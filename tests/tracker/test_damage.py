"""Files of a topology that are damaged, or not files: its page is there all the same, and says which, and what is not known for that."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from fastapi.testclient import TestClient
from typer.testing import CliRunner

from ouzel.cli.main import app as commands
from ouzel.runtime.checkpoints.manifest import Manifest, TaskFiles, manifest_name
from ouzel.runtime.checkpoints.store import CheckpointStore
from ouzel.runtime.cluster.submitted.folder import About
from ouzel.runtime.cluster.submitted.registry import Registry
from ouzel.runtime.observe.samples import samples_path, write_row_samples
from ouzel.runtime.observe.state_summaries import summaries_path, write_state_summaries
from ouzel.runtime.process.asks import Ask, AskKind, ask_path, write_ask
from ouzel.runtime.process.job import KEY
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
