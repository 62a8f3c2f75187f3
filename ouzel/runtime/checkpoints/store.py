"""The folder of a topology's checkpoints: tasks write files into it, and the topology master makes an epoch of them complete."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from ouzel.errors import StateError
from ouzel.runtime.checkpoints.leaders import Leaders
from ouzel.runtime.checkpoints.manifest import (
    Manifest,
    TaskFile,
    TaskFiles,
    manifest_bytes,
    manifest_name,
    read_manifest,
)
from ouzel.runtime.checkpoints.names import (
    EPOCHS,
    TASKS,
    epoch_of,
    epoch_of_partial,
    epoch_of_task_file,
    task_file_name,
)
from ouzel.runtime.checkpoints.objects import ObjectStore, StoreLocation
from ouzel.runtime.checkpoints.opening import open_store
from ouzel.runtime.checkpoints.owner import NOTE, Owner, find_owner, new_folder_id, refuse_other, write_owner
from ouzel.runtime.checkpoints.sealed import MissingFile
from ouzel.runtime.checkpoints.task_file import TaskHeader, check_task_file, read_task_file, write_task_file
from ouzel.runtime.state.task_snapshot import TaskSnapshot


class CheckpointStore:
    """The checkpoints in a folder, which is made when something is written, or below an address.

    Any number of processes may write tasks' files at once. One, the topology master, completes epochs and removes old ones.
    """

    def __init__(self, place: StoreLocation | ObjectStore) -> None:
        self.objects = open_store(place) if isinstance(place, StoreLocation) else place
        self.folder = self.objects.place
        self._leaders = Leaders(self.objects)

    @property
    def is_there(self) -> bool:
        """Whether anything has been written here."""
        return any(map(self.objects.has, (NOTE, EPOCHS, TASKS)))

    def claim(self, topology: str, topology_id: str) -> None:
        """Have the folder belong to a topology, from its first start on. The id is the topology's own, the same at each start.

        Raises:
            StateError: it belongs to another topology.
            OSError: it cannot be written.
        """
        is_first = not self.objects.sizes([NOTE])
        if is_first:
            self.objects.check_first_wins()
        owner = self.owner() or Owner(new_folder_id())
        if owner.is_free_for(topology):
            claimed = replace(owner, topology=topology, topology_id=topology_id)
            write_owner(self.objects, claimed, is_first=is_first)
            owner = find_owner(self.objects) or owner
        refuse_other(self.folder, owner, topology, topology_id)

    def take_over(self, leadership: int) -> int:
        """A topology master begins to lead: what earlier ones complete from now on does not count. The newest epoch that does, or 0.

        Raises:
            Deposed: a later one has begun.
            OSError: the folder cannot be read or written.
        """
        self._leaders.begin(leadership)
        self._leaders.check_leads(leadership)
        found = [epoch for epoch in self.epochs() if not self._is_void(epoch)]
        self._leaders.settle(leadership, found)
        return max(found, default=0)

    def check_leads(self, leadership: int) -> None:
        """See that no later topology master has begun to lead.

        Raises:
            Deposed: one has.
            OSError: the folder cannot be read.
        """
        self._leaders.check_leads(leadership)

    def owner(self) -> Owner | None:
        """Whose folder it is; if its note is lost, what the newest manifest says. None if nothing says so.

        Raises:
            OSError: the folder cannot be read.
        """
        with contextlib.suppress(StateError):
            if (owner := find_owner(self.objects)) is not None:
                return owner
        for epoch in reversed(self.epochs()):
            with contextlib.suppress(StateError):
                manifest, folder = read_manifest(self.objects, epoch)
                return Owner(folder, manifest.topology)
        return None

    def write_task(self, epoch: int, snapshot: TaskSnapshot) -> TaskFile:
        """Write what a task keeps in an epoch: on disk when this returns.

        Raises:
            OSError: it cannot be written; then nothing of it is there.
        """
        owner = self.owner()
        with self.objects.fresh(TASKS, epoch) as file:
            digest = write_task_file(file, owner.topology if owner else "", epoch, snapshot)
            name = task_file_name(epoch, snapshot.component, snapshot.index, digest)
            file.keep(name)
        return TaskFile(name, file.size, digest)

    def read_task(self, files: TaskFiles) -> list[TaskSnapshot]:
        """What a task kept: a whole snapshot, and the changes after it.

        Raises:
            StateError: a file is missing, torn, damaged, or foreign: of another task, epoch, topology or version.
        """
        read = [read_task_file(self.objects, file) for file in files.files]
        self._check_chain(files, [header for header, _ in read])
        return [snapshot for _, snapshot in read]

    def read_header(self, files: TaskFiles) -> TaskHeader:
        """What a task kept, but for its states: its last file is read piece by piece.

        Raises:
            StateError: as for `read_task`.
        """
        header = check_task_file(self.objects, files.files[-1])
        if header.task != str(files):
            raise StateError(f"{self.objects.where(files.files[-1].name)} holds {header}, and is needed for {files}")
        return header

    def complete(self, manifest: Manifest) -> None:
        """Make an epoch complete, on disk when this returns. All its files must be there.

        Raises:
            StateError: a file is not there, the epoch is complete already with other files, or the folder is another topology's.
            OSError: the manifest cannot be written, or is not known to stay; former epochs are as they were.
        """
        owner = self.owner() or self._begin()
        if owner.topology not in ("", manifest.topology):
            refuse_other(self.folder, owner, manifest.topology, "")
        if problem := self.find_missing(manifest):
            raise StateError(f"epoch {manifest.epoch} cannot be complete: {problem}")
        self._refuse_other_manifest(manifest)
        name = manifest_name(manifest.epoch)
        is_first = not self.objects.sizes([name])
        with self.objects.fresh(EPOCHS, manifest.epoch) as file:
            file.write(manifest_bytes(manifest, owner.folder))
            if is_first:
                file.keep_if_first(name)
            else:
                file.keep(name)
        self._refuse_other_manifest(manifest)

    def epochs(self) -> list[int]:
        """The epochs that have a manifest, oldest first, whether it can be read or not.

        Raises:
            OSError: the folder cannot be read.
        """
        return sorted(epoch for name in self.objects.list(EPOCHS) if (epoch := epoch_of(name)) is not None)

    def manifest(self, epoch: int) -> Manifest:
        """What an epoch consists of.

        Raises:
            StateError: there is no such epoch, or its manifest is torn, damaged, or foreign: of another epoch, folder or version, or
                completed by a topology master when another led already.
        """
        manifest = self._read_manifest(epoch)
        if not self._leaders.is_counted(epoch, manifest.leadership):
            raise StateError(f"epoch {epoch} was completed by a topology master when another one led already")
        return manifest

    def _read_manifest(self, epoch: int) -> Manifest:
        try:
            manifest, folder = read_manifest(self.objects, epoch)
        except MissingFile:
            raise StateError(f"{self.folder} holds no epoch {epoch}") from None
        owner = self.owner()
        if owner is not None and owner.folder != folder:
            where = self.objects.where(manifest_name(epoch))
            raise StateError(f"{where} is of another folder, of topology '{manifest.topology}'")
        return manifest

    def newest(self, before: int | None = None, revision: int | None = None) -> tuple[Manifest | None, list[str]]:
        """The newest epoch whose files are all as they were written, and what is wrong with later ones, newest first.

        (None, []) says that there has never been one. (None, [...]) says that there are some and none can be used: whoever begins with
        nothing then loses what they hold.

        Args:
            before: look only at epochs of lower numbers.
            revision: pass over epochs of later revisions of the topology: it was never started with them to an end.

        Raises:
            OSError: the folder cannot be read.
        """
        problems: list[str] = []
        for epoch in reversed(self.epochs()):
            if (before is None or epoch < before) and not self._is_void(epoch):
                found = self.verify(epoch)
                if not found:
                    manifest = self.manifest(epoch)
                    if revision is not None and manifest.revision > revision:
                        continue
                    return manifest, problems
                problems += [f"epoch {epoch} cannot be used: {problem}" for problem in found]
        return None, problems

    def verify(self, epoch: int) -> list[str]:
        """What is wrong with an epoch, a sentence each; every byte of its files is read."""
        try:
            manifest = self.manifest(epoch)
        except StateError as error:
            return [str(error)]
        return [problem for task in manifest.tasks for problem in self._verify_task(task)]

    def find_missing(self, manifest: Manifest) -> str:
        """Which file of an epoch is not there, or not in its size; empty if all are. Nothing is read."""
        return self.find_missing_file(manifest.files)

    def find_missing_file(self, files: Sequence[TaskFile]) -> str:
        """The same of some files.

        Raises:
            OSError: the folder cannot be read.
        """
        sizes = self.objects.sizes([file.name for file in files])
        for file in files:
            if (size := sizes.get(file.name)) is None:
                return f"{self.objects.where(file.name)} is missing"
            if size != file.size:
                return f"{self.objects.where(file.name)} has {size:,} bytes, not {file.size:,}"
        return ""

    def remove_later(self, revision: int) -> None:
        """Remove the manifests of epochs of later revisions of the topology: nobody is to go back to them.

        Raises:
            OSError: one cannot be removed.
        """
        later: list[str] = []
        for epoch in self.epochs():
            with contextlib.suppress(StateError):
                if self.manifest(epoch).revision > revision:
                    later.append(manifest_name(epoch))
        self.objects.delete(later)

    def prune(self, keep: int) -> list[str]:
        """Remove all but the newest epochs, and what no kept epoch needs; the names of what was removed.

        Epochs that have lost a file are not counted. What is newer than the newest epoch stays, for it is being written. A manifest goes
        before its files, so that wherever this ends, what has a manifest has all its files.

        Raises:
            OSError: the folder cannot be read, or something cannot be removed.
        """
        assert keep > 0, keep
        kept = self._newest_present(keep)
        if not kept:
            return []
        newest, oldest = kept[0].epoch, kept[-1].epoch
        removed = [manifest_name(epoch) for epoch in self.epochs() if epoch < oldest]
        self.objects.delete(removed)
        needed = {file.name for manifest in kept for file in manifest.files}
        files = [name for name in self._removable(newest) if name not in needed]
        self.objects.delete(files)
        return removed + files

    def _begin(self) -> Owner:
        """Give the folder an id, if its note is not there or says nothing."""
        fresh = Owner(new_folder_id())
        write_owner(self.objects, fresh, is_first=not self.objects.sizes([NOTE]))
        return find_owner(self.objects) or fresh

    def _verify_task(self, task: TaskFiles) -> Iterator[str]:
        headers = []
        for file in task.files:
            try:
                headers.append(check_task_file(self.objects, file))
            except StateError as error:
                yield str(error)
        if len(headers) == len(task.files):
            try:
                self._check_chain(task, headers)
            except StateError as error:
                yield str(error)

    def _check_chain(self, task: TaskFiles, headers: list[TaskHeader]) -> None:
        """All must be the task's own, begin with all of its state, and each follow on the one before."""
        if not headers:
            raise StateError(f"there is no file of task {task}")
        for file, header in zip(task.files, headers, strict=True):
            if header.task != str(task):
                raise StateError(f"{self.objects.where(file.name)} holds {header}, and is needed for {task}")
        if not all(operator.whole for operator in headers[0].operators):
            raise StateError(f"{self.objects.where(task.files[0].name)} holds changes only, and no file before it")
        for file, (before, after) in zip(task.files[1:], pairwise(headers), strict=True):
            if not after.is_continuation_of(before):
                raise StateError(
                    f"{self.objects.where(file.name)} does not follow on the file before, of epoch {before.epoch}"
                )

    def _refuse_other_manifest(self, manifest: Manifest) -> None:
        """An epoch is made complete once; one that cannot be used may be written anew."""
        try:
            present = self._read_manifest(manifest.epoch)
        except StateError:  # there is none, or it cannot be read
            return
        if present != manifest and not self.find_missing(present):
            raise StateError(f"{self.folder} holds epoch {manifest.epoch} already, with other content")

    def _is_void(self, epoch: int) -> bool:
        """Whether an epoch was completed too late to count."""
        with contextlib.suppress(StateError):
            return not self._leaders.is_counted(epoch, self._read_manifest(epoch).leadership)
        return False

    def _newest_present(self, keep: int) -> list[Manifest]:
        """So many of the newest epochs that can be read and have all their files, newest first."""
        found: list[Manifest] = []
        for epoch in reversed(self.epochs()):
            with contextlib.suppress(StateError):
                manifest = self.manifest(epoch)
                if not self.find_missing(manifest):
                    found.append(manifest)
            if len(found) == keep:
                break
        return found

    def _removable(self, newest: int) -> Iterator[str]:
        """Files of tasks, and of writers that died, of epochs up to the newest complete one."""
        for name in self.objects.list(TASKS):
            epoch = epoch_of_task_file(f"{TASKS}/{name}")
            if epoch is not None and epoch <= newest:
                yield f"{TASKS}/{name}"
        for folder in ("", TASKS, EPOCHS):
            for name in self.objects.list(folder):
                epoch = epoch_of_partial(name)
                if epoch is not None and epoch <= newest:
                    yield f"{folder}/{name}" if folder else name
