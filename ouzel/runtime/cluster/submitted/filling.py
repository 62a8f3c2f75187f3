"""Filling new state of an updated topology from history, for `ouzel update --bootstrap`.

The topology has stopped with an epoch. All that its sources had given up to there is read again, by the new query, in this process. What
that keeps is put beside the former state, as another epoch, of a revision of its own: so whoever starts the new query finds both, and
whoever starts the former one passes that epoch over.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from ouzel.compiler.plan import Scan, scans_in, sinks_in
from ouzel.compiler.user_code import describe_raised
from ouzel.connectors import reads_of
from ouzel.errors import OuzelError, SubmissionError, TopologyError
from ouzel.exits import in_user_code
from ouzel.planner.evolution import filled_name
from ouzel.planner.former import Former
from ouzel.planner.packing import repack
from ouzel.planner.packing.plan import PackingPlan
from ouzel.planner.topology import Component, Topology
from ouzel.runtime.checkpoints.manifest import Manifest, TaskFiles
from ouzel.runtime.checkpoints.store import CheckpointStore
from ouzel.runtime.process.kept_results import ResultKeeper
from ouzel.runtime.process.saved_results import add_up_changes
from ouzel.runtime.protocol.messages import Place
from ouzel.runtime.simulator.history import Filled, fill, upstream_part
from ouzel.runtime.tasks.partitions import SourceHistory


@dataclass(frozen=True)
class Filling:
    """What is to be filled.

    Attributes:
        old, new: the topologies.
        packing: of the present one.
        directory: where relative paths of tables start.
        formers: by component of the new one, what it goes on from.
        filled: the components that are filled.
    """

    old: Topology
    new: Topology
    packing: PackingPlan
    directory: Path
    formers: Mapping[str, Former]
    filled: frozenset[str]

    def find_history(self, store: CheckpointStore, epoch: Manifest) -> dict[str, SourceHistory]:
        """Where the sources that are read again stand in an epoch, by component.

        Raises:
            StateError: a file of it is damaged.
        """
        found = {}
        for source in sources_of(self.new, self.filled):
            former = self.formers[source.name].component
            headers = [store.read_header(files) for files in epoch.tasks if files.component == former]
            places = {name: Place(*place) for one in headers for name, place in one.places.items()}
            found[source.name] = SourceHistory(
                places, min(one.time_us for one in headers), _find_unpaced_options(_scan_of(source))
            )
        return found

    def fill(self, store: CheckpointStore, epoch: Manifest, revision: int, results: Path | None) -> None:
        """Write the epoch that the new query goes on from, of that revision; what history answers goes into the folder of its results.

        Raises:
            OuzelError: the history cannot be read, or is not whole.
            OSError: there is no room.
        """
        history = self.find_history(store, epoch)
        part = upstream_part(self.new, self.filled)
        try:
            with in_user_code():
                filled = fill(part, repack(part, self.packing), self.directory, history)
        except OuzelError:
            raise
        except Exception as error:
            raise TopologyError(f"the history cannot be computed: {describe_raised(error)}") from error
        self._check_is_whole(history, filled)
        number = max(store.epochs()) + 1
        if results is not None:
            self._write_results(results, number, filled)
        _write_epoch(store, epoch, number, revision, filled)

    def _check_is_whole(self, history: Mapping[str, SourceHistory], filled: Filled) -> None:
        for source in sources_of(self.new, self.filled):
            scan, name = _scan_of(source), source.name
            former = _scan_of(self.old.component(self.formers[name].component))
            # With another predicate a source may have given other ones of its records.
            counts = str(scan.predicate) == str(former.predicate)
            for partition, place in history[name].places.items():
                found = filled.places.get(name, {}).get(partition, Place(0, 0))
                is_same = found.read == place.read if counts else found.offset >= place.offset
                if place.read and not is_same:
                    raise SubmissionError(
                        f"table '{scan.table}' does not give again all that was read of it: {partition} gave {place.read:,} records up to "
                        f"offset {place.offset:,}, and {found.read:,} are found now; leave out --bootstrap, or submit the new query under "
                        "another name"
                    )

    def _write_results(self, folder: Path, epoch: int, filled: Filled) -> None:
        returning = next((one for one in self.new.components if _has_result(one)), None)
        if returning is None or returning.name not in self.filled:
            return
        task = next(task for task in self.new.tasks() if task.component == returning.name)
        keeper = ResultKeeper(folder / f"task-{task.id:05}")
        for number, frame in enumerate(add_up_changes(iter(filled.answers))):
            keeper.write(number, frame)
        keeper.mark(epoch, epoch)


def sources_of(topology: Topology, filled: frozenset[str]) -> list[Component]:
    """The components that read the tables from which these are filled."""
    return [one for one in upstream_part(topology, filled).components if scans_in(one.chain[:1])]


def check_history(topology: Topology, filled: frozenset[str]) -> None:
    """See that all that was read of the tables can be read again.

    Raises:
        SubmissionError: it cannot.
    """
    for source in sources_of(topology, filled):
        scan = _scan_of(source)
        if refusal := _why_no_history(scan):
            raise SubmissionError(
                f"nothing can be filled from table '{scan.table}': {refusal}; leave out --bootstrap, or submit the new query under another "
                "name"
            )


def describe_history(history: Mapping[str, SourceHistory], topology: Topology) -> Iterator[str]:
    """How much is read again, a line for each table."""
    for name, known in history.items():
        read = sum(place.read for place in known.places.values())
        yield f"history  table '{_scan_of(topology.component(name)).table}': {read:,} records, as of the last epoch, are read again"


def _why_no_history(scan: Scan) -> str:
    reads, options = reads_of(scan.connector, scan.table), dict(scan.options)
    if reads.history is None:
        return f"connector '{scan.connector}' does not give again what it has given"
    if reads.sheds(options) is not None:
        return "it leaves out what lags behind, and would leave out other records"
    return reads.history.refusal(options)


def _find_unpaced_options(scan: Scan) -> dict[str, str]:
    """The options of a table under which it gives its history as fast as it can."""
    history, options = reads_of(scan.connector, scan.table).history, dict(scan.options)
    return options if history is None else history.options(options)


def _write_epoch(store: CheckpointStore, former: Manifest, number: int, revision: int, filled: Filled) -> None:
    """All that the former one holds, and what was filled."""
    tasks = list(former.tasks)
    for snapshot in filled.snapshots:
        if snapshot.states:
            name = filled_name(snapshot.component)
            file = store.write_task(number, replace(snapshot, component=name, places={}))
            tasks.append(TaskFiles(name, snapshot.index, (file,)))
    made_us = time.time_ns() // 1000
    store.complete(replace(former, epoch=number, made_us=made_us, tasks=tuple(tasks), revision=revision))


def _scan_of(component: Component) -> Scan:
    return scans_in(component.chain[:1])[0]


def _has_result(component: Component) -> bool:
    return any(sink.traits.returned for sink in sinks_in(component.chain))
