"""Topologies that are updated while they keep their state: the page's transcript, under load, and what is refused or fails."""

from __future__ import annotations

import json
import re
import shlex
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from threading import Event, Thread

import pytest

import ouzel
from ouzel.errors import SubmissionError, TopologyError
from ouzel.runtime.checkpoints.store import CheckpointStore
from ouzel.runtime.cluster.submitted import update
from ouzel.runtime.cluster.submitted.registry import Registry
from ouzel.runtime.protocol.cluster.submitted import Condition
from ouzel.runtime.run import RunState
from tests.cli.test_submitted import Place, place
from tests.servers.waiting import wait_until

__all__ = ["place"]
pytestmark = pytest.mark.server

PAGE = Path(__file__).parents[2] / "docs/operations.md"
SECTION = PAGE.read_text().partition("### More tasks, or fewer")[2].partition("\n### ")[0]
QUERY = SECTION.partition("```sql\n")[2].partition("```")[0]
TRANSCRIPT = re.findall(r"^\$ ouzel (.*)\n((?:(?!\$ |```).*\n)*)", SECTION, re.MULTILINE)
EPOCHS = ("--set", "checkpoint.interval.ms=300")


class Words(Thread):
    """Adds words to the file until it is told to stop; `counts` are how often each was."""

    def __init__(self, file: Path) -> None:
        super().__init__(daemon=True)
        self._file, self._ends, self.counts = file, Event(), Counter[str]()

    def run(self) -> None:
        """Some hundred words, again and again."""
        number = 0
        while not self._ends.wait(0.02):
            words = [f"word{(number + place) * 7 % 211}" for place in range(50)]
            number += 50
            with self._file.open("a") as file:
                file.writelines(json.dumps({"word": word}) + "\n" for word in words)
            self.counts.update(words)

    def stop(self) -> None:
        """No more come."""
        self._ends.set()
        self.join()


def counts(place: Place, name: str = "counted") -> dict[str, int]:
    """What a topology has counted."""
    return {row["word"]: row["n"] for row in place.rows(name)}


def words_of(place: Place) -> Words:
    """The query of the page, and words that come; not started yet."""
    (place.root / "counted.sql").write_text(QUERY)
    return Words(place.lines)


def test_the_transcript_of_the_page_is_what_is_printed_and_every_word_is_counted_once(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert len(TRANSCRIPT) == 5
    monkeypatch.chdir(place.root)
    words = words_of(place)
    words.start()
    for command, printed in TRANSCRIPT:
        result = place.ask(*shlex.split(command), *(EPOCHS if command.startswith("submit") else ()))
        shown = printed.strip()
        assert shown in (result.stdout + result.stderr).splitlines(), result.output
        assert result.exit_code == (2 if shown.startswith("error") else 0), result.output
        before = sum(counts(place).values())
        wait_until(lambda before=before: sum(counts(place).values()) > before)
    words.stop()
    wait_until(lambda: counts(place) == words.counts)
    assert "count_by_word  bolt x 2" in place.told("explain", "counted")


@pytest.mark.whole
def test_all_go_back_to_an_epoch_of_before_the_update_and_count_right(place: Place) -> None:
    words = words_of(place)
    words.start()
    place.told("submit", place.root / "counted.sql", "--set", "checkpoint.interval.ms=600000")
    wait_until(lambda: len(counts(place)) > 100)
    registry = Registry(place.home)
    before_it = update.read_present(registry, "counted")
    with ouzel.update("counted", parallelism={"count_by_word": 3}) as handle:
        assert handle.fresh_status(60).state is RunState.RUNNING
    with pytest.raises(SubmissionError, match="was changed by another command meanwhile"):
        update.replace_topology(registry, before_it, update.Next(before_it.topology, before_it.about))
    place.kill_all("counted")
    place.told("start", "counted")
    before = sum(counts(place).values())
    wait_until(lambda: sum(counts(place).values()) > before)
    place.told("restart", "counted", "count_by_word[1]")
    words.stop()
    wait_until(lambda: counts(place) == words.counts)


@pytest.mark.whole
@pytest.mark.parametrize("where", ["_stop", "_await_tasks"])
def test_a_command_that_is_killed_leaves_what_a_start_brings_back(place: Place, where: str) -> None:
    words = words_of(place)
    words.start()
    place.told("submit", place.root / "counted.sql", *EPOCHS)
    wait_until(lambda: len(counts(place)) > 100)
    program = (
        "import os, signal\n"
        "from ouzel.runtime.cluster.submitted import update\n"
        f"do = update._Update.{where}\n"
        f"def die(*given): {'do(*given); ' if where == '_stop' else ''}os.kill(os.getpid(), signal.SIGKILL)\n"
        f"update._Update.{where} = die\n"
        "from ouzel.submitting import update_parallelism\n"
        "update_parallelism('counted', {'count_by_word': 3})\n"
    )
    ended = subprocess.run([sys.executable, "-c", program], check=False)
    assert ended.returncode == -signal.SIGKILL
    if where == "_stop":
        assert place.condition("counted") is Condition.INTERRUPTED
        place.told("start", "--all")
    tasks = len(read_tasks(place))
    assert tasks == (2 if where == "_stop" else 5)
    place.told("update", "counted", "--parallelism", "count_by_word=2")
    words.stop()
    wait_until(lambda: counts(place) == words.counts)


def read_tasks(place: Place) -> list[str]:
    """The components of all tasks of the topology."""
    registry = Registry(place.home)
    record = registry.find("counted")
    assert record is not None
    return [task.component for task in registry.folder("counted").load(record.run).topology.tasks()]


@pytest.mark.whole
def test_what_cannot_be_started_is_started_again_as_it_was(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    words = words_of(place)
    words.start()
    place.told("submit", place.root / "counted.sql", *EPOCHS)
    wait_until(lambda: len(counts(place)) > 100)

    def fail(*_: object) -> None:
        raise TopologyError("task 3 cannot begin")

    with monkeypatch.context() as patched:
        patched.setattr(update._Update, "_await_tasks", fail)
        failed = place.ask("update", "counted", "--parallelism", "count_by_word=3")
    assert failed.exit_code != 0
    assert "is not updated, and goes on as it was: task 3 cannot begin" in failed.stderr
    assert len(read_tasks(place)) == 2
    words.stop()
    wait_until(lambda: counts(place) == words.counts)


@pytest.mark.whole
def test_without_a_last_epoch_nothing_is_updated(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing can be written where tasks keep their snapshots, until it is started again."""
    words = words_of(place)
    words.start()
    place.told("submit", place.root / "counted.sql", *EPOCHS)
    wait_until(lambda: len(counts(place)) > 100)
    (run,) = (place.home / "topologies/counted/runs").iterdir()
    folder, kept, start = run / "checkpoints/tasks", run / "checkpoints/kept", update._Update._start_as_it_was
    wait_until(lambda: CheckpointStore(run / "checkpoints").epochs())
    folder.rename(kept)
    folder.touch()

    def mend(one: update._Update) -> None:
        folder.unlink()
        kept.rename(folder)
        start(one)

    with monkeypatch.context() as patched:
        patched.setattr(update._Update, "_start_as_it_was", mend)
        failed = place.ask("update", "counted", "--parallelism", "count_by_word=3")
    assert failed.exit_code != 0
    assert "is not updated, and goes on as it was: epoch" in failed.stderr, failed.stderr
    assert "cannot be written" in failed.stderr
    assert len(read_tasks(place)) == 2
    words.stop()
    wait_until(lambda: counts(place) == words.counts)
