"""The files of one submitted topology: what was submitted, the job directories of its runs, and its results."""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import secrets
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from ouzel.compiler.plan import SortKey
from ouzel.compiler.types import Schema
from ouzel.compiler.written import WrittenQuery
from ouzel.runtime.checkpoints.objects import StoreLocation
from ouzel.runtime.cluster.state.fenced import read_fenced, write_fenced
from ouzel.runtime.cluster.state.local import LocalState
from ouzel.runtime.cluster.submitted.revisions import go_back, has_begun, note_begun
from ouzel.runtime.process.job import (
    KEY,
    PROGRAM,
    RunDescription,
    check_room,
    create_key,
    load_description,
    read_object,
    revision_name,
)
from ouzel.runtime.process.process_table import ProcessTable
from ouzel.runtime.protocol.cluster.processes import begin_anew

_ABOUT, _TABLES = "about", "tables"


@dataclass(frozen=True)
class ResultShape:
    """The columns of a result, whether it takes rows back, the order that its query asks for, and the zone that it is shown in."""

    schema: Schema
    retracts: bool
    sorted_by: tuple[SortKey, ...]
    zone: str = "UTC"


@dataclass(frozen=True)
class About:
    """What commands show of a topology without reading its program.

    Attributes:
        explanation: the text of EXPLAIN.
        shape: of its result; None if it has none.
        keeps_state: the components whose tasks lose something when they are started again.
        resumes: a source keeps offsets between runs, so that a new run does not answer again what was answered.
        written: which operators its components have, and where they stand in the query; None of one that an older release submitted.
    """

    explanation: str
    shape: ResultShape | None
    keeps_state: tuple[str, ...]
    resumes: bool
    written: WrittenQuery | None = None


class TopologyFolder:
    """The folder of one name."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.submitted, self.results, self.runs = path / "submitted", path / "results", path / "runs"

    def run(self, run: str) -> Path:
        """The job directory of a run."""
        return self.runs / run

    def results_of(self, start: int) -> Path:
        """Where the run of that start keeps its result."""
        return self.results / f"{start:06}"

    def save(self, job: RunDescription, path: list[str], about: About, tables: list[dict[str, Any]]) -> None:
        """Keep what is submitted: `job` is signed with a new key.

        Raises:
            TopologyError: what the program defines cannot be pickled.
            OSError: there is no room.
        """
        self.remove()
        self.submitted.mkdir(mode=0o700, parents=True)
        create_key(self.submitted)
        kept = replace(job, home=self.submitted)
        kept.save(path)
        kept.sign(_ABOUT, pickle.dumps(about))
        (self.submitted / _TABLES).write_text(json.dumps(tables))

    def about(self) -> About:
        """What commands show of it.

        Raises:
            TopologyError: it is gone, or not what was submitted.
        """
        return cast(About, read_object(self.submitted, revision_name(_ABOUT, self._revision)))

    def tables(self) -> list[dict[str, Any]]:
        """The tables whose connectors are imported before processes are forked."""
        return cast(
            list[dict[str, Any]], json.loads((self.submitted / revision_name(_TABLES, self._revision)).read_text())
        )

    @property
    def _revision(self) -> int:
        return load_description(self.submitted).revision

    def save_revision(self, job: RunDescription, path: list[str], about: About, tables: list[dict[str, Any]]) -> None:
        """Keep what a revision is to be, beside the one that is: nobody looks at it before `begin_revision`.

        Raises:
            TopologyError: what the program defines cannot be pickled.
            OSError: there is no room.
        """
        kept = replace(job, home=self.submitted)
        kept.save(path, outlined=False)
        kept.sign(revision_name(_ABOUT, job.revision), pickle.dumps(about))
        (self.submitted / revision_name(_TABLES, job.revision)).write_text(json.dumps(tables))
        shutil.copy2(self.submitted / revision_name(PROGRAM, job.revision), self.run(job.id))

    def begin_revision(self, job: RunDescription) -> None:
        """Have the run, and any other after it, be of this revision, which is kept, from its next start on.

        The description of the run is what decides. It is replaced at once.

        Raises:
            OSError: there is no room; the revision is the former one then, or this one.
        """
        self._unlink(job.id)  # processes that were killed have left it, and only the description that goes names it
        for home, results in ((self.run(job.id), job.results), (self.submitted, None)):
            replace(job, home=home, results=results).save_outline()

    def forget_revisions(self, *kept: int) -> None:
        """Remove the files of all other revisions."""
        for home in (self.submitted, *self.runs.glob("*")):
            for name in (PROGRAM, _ABOUT, _TABLES):
                wanted = {revision_name(name, revision) for revision in kept}
                for path in [home / name, *home.glob(f"{name}-*")]:
                    if path.name not in wanted:
                        path.unlink(missing_ok=True)

    def execution_state(self, run: str) -> bytes | None:
        """What the topology master of a run has stored."""
        state = self.run(run) / "state"
        return read_fenced(LocalState(state), f"/executionstate/{run}") if state.is_dir() else None

    def begin_run(self, name: str, start: int) -> RunDescription:
        """A job directory for a run that begins anew; its description.

        Raises:
            TopologyError: what was submitted is gone, or was changed.
            OSError: there is no room.
        """
        run = f"{name}-{secrets.token_hex(4)}"
        home = self.run(run)
        home.mkdir(mode=0o700, parents=True)
        job = load_description(self.submitted)
        for file in (KEY, revision_name(PROGRAM, job.revision)):
            shutil.copy2(self.submitted / file, home / file)
        results = self.results_of(start) if self.about().shape else None
        note_begun(LocalState(home / "state"), run, job.revision)
        return self._describe(replace(job, id=run, results=results))

    def continue_run(self, run: str, *, stays_paused: bool) -> RunDescription:
        """The description of a run that goes on where it was when its processes ended.

        Raises:
            TopologyError: it is gone, or not what was submitted.
            StateError: it was updated, and no epoch can be read that it could go on from.
            OSError: there is no room.
        """
        home = self.run(run)
        job = load_description(home)
        state = LocalState(home / "state")
        if not has_begun(state, job):
            self._go_back(job, state)
        if not stays_paused:
            state.delete(f"/executionstate/{run}")
        (home / "status").unlink(missing_ok=True)
        _forget_processes(home, job)
        self._unlink(run)
        return self._describe(job)

    def _go_back(self, job: RunDescription, state: LocalState) -> None:
        """Have the first start of a revision go on from the newest epoch: what tasks have noted since is of tasks that are no more.

        If this ends half-way, it is done again at the next start.
        """
        from ouzel.runtime.checkpoints.store import CheckpointStore

        go_back(job, state, CheckpointStore(self.find_checkpoints(job.id)))
        for journal in self.run(job.id).glob("container-*/cuts-*"):
            journal.unlink()
        if (submitted := load_description(self.submitted)).revision != job.revision:
            replace(job, home=submitted.home, results=None).save_outline()
        note_begun(state, job.id, job.revision)

    def pause(self, run: str) -> None:
        """Have a run begin paused."""
        write_fenced(LocalState(self.run(run) / "state"), f"/executionstate/{run}", b"paused 1")

    def _describe(self, job: RunDescription) -> RunDescription:
        """The description as it is signed for a start, with a link that sockets have room below."""
        described = replace(job, home=make_link(self.run(job.id)))
        described.save_outline()
        return described

    def last_seen_us(self, run: str) -> int | None:
        """When processes of a run last wrote their metrics or logs, in microseconds since 1970; None if they never did."""
        home = self.run(run)
        times = []
        for path in [home / "server.log", *home.glob("container-*/metrics-*"), *home.glob("container-*/*.log")]:
            with contextlib.suppress(OSError):
                times.append(path.stat().st_mtime_ns // 1000)
        return max(times, default=None)

    def load(self, run: str, read: Callable[[Path], RunDescription] = load_description) -> RunDescription:
        """The description of a run; its `home` is the link for sockets while that is there. `read` reads it in the job directory.

        Raises:
            TopologyError: it is gone, or not what was submitted.
        """
        home = self.run(run)
        job = read(home)
        return job if job.home.resolve() == home.resolve() else replace(job, home=home)

    def find_checkpoints(self, run: str) -> StoreLocation:
        """Where a run keeps its checkpoints: where its query says, or in its job directory.

        Raises:
            TopologyError: the run is gone, or not what was submitted.
        """
        return replace(load_description(self.run(run)), home=self.run(run)).checkpoints

    def forget_others(self, run: str) -> None:
        """Remove the job directories of all other runs, and their links."""
        for other in self.runs.iterdir() if self.runs.is_dir() else ():
            if other.name != run:
                self._unlink(other.name)
                shutil.rmtree(other, ignore_errors=True)

    def forget_results_before(self, start: int) -> None:
        """Remove what runs of former starts have answered: the run of this one answers all of it again."""
        for folder in self.results.glob("*"):
            if folder != self.results_of(start):
                shutil.rmtree(folder, ignore_errors=True)

    def remove(self) -> None:
        """Remove everything."""
        self.forget_others("")
        shutil.rmtree(self.path, ignore_errors=True)

    def _unlink(self, run: str) -> None:
        with contextlib.suppress(Exception):  # a description that cannot be read names no link
            link = load_description(self.run(run)).home
            if link.is_symlink() and Path(os.readlink(link)) == self.run(run):
                link.unlink()


def make_link(home: Path) -> Path:
    """A new short path in the temporary directory for a job directory, whose own path may be too long for sockets.

    Raises:
        TopologyError: the temporary directory has too long a path itself.
        OSError: there is no room.
    """
    parent = Path(tempfile.gettempdir())
    check_room(parent)
    link = parent / f"ouzel.{secrets.token_hex(4)}"
    link.symlink_to(home)
    return link


def _forget_processes(home: Path, job: RunDescription) -> None:
    """Note that no process of the run lives, unless none ever did: after a reboot another may have its id and even its time of start.

    Tasks that an update has added count as started before, for their components were: what they read and write is there already.
    """
    if not any((home / f"container-{container}").is_dir() for container in job.containers):
        return
    tables = {container: ProcessTable(home / f"container-{container}") for container in job.containers}
    for table in tables.values():
        table.read()
    begin_anew(tables, {container: [f"instance-{task.id}" for task in job.tasks_in(container)] for container in tables})
    for container, table in tables.items():
        (home / f"container-{container}").mkdir(mode=0o700, exist_ok=True)
        table.write()
