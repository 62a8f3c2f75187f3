"""Sinks whose servers stand still: what may be pending is pending, nothing grows meanwhile, and the other paths of the topology go on."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import numpy as np
import pytest

from ouzel.runtime.cluster.client import HeronHandle
from ouzel.runtime.run import RunState
from ouzel.session import Job, load_text, start
from tests.fire.pairs import Grounds, grounds
from tests.fire.places import Place
from tests.process.topologies import pid_of
from tests.servers.waiting import wait_until, wait_while_it_runs

pytestmark = [pytest.mark.server, pytest.mark.slow]

EVENTS, PENDING, BATCH = 30_000, 4_000, 500
FULL = PENDING - BATCH
"""A source that has so many rows on their way may read no more."""

BYTES = 1_000
"""Of each event; so what is not read yet would be seen in the memory of whoever read it nevertheless."""

PASS_BYTES = 1_500 * BYTES
"""So much passes each proxy before it stands still: at most 4,500 rows of 30,000, through the three of Kestrel."""

GROWTH_MB, LIMIT_S = 12, 120
SLOW = ("kafka", "kestrel", "redis")
SETTINGS = (
    ("max.pending.rows", str(PENDING)),
    ("batch.rows", str(BATCH)),
    ("ack.timeout.ms", "2000"),
    ("hang.timeout.ms", "60000"),
    ("parallelism", "1"),
)
"""Patient, for on a busy machine a process may have no core for ten seconds: what hangs is tested elsewhere."""

SOURCE = f"""CREATE TABLE from_{{name}} (n BIGINT, pad VARCHAR) WITH (
  'connector' = 'datagen', 'rows' = '{EVENTS}', 'rate' = '6000', 'partitions' = '1', 'fields.n.kind' = 'sequence', 'fields.n.min' = '0',
  'fields.pad.length' = '{BYTES}');"""
SINK = "CREATE TABLE {name} (n BIGINT, pad VARCHAR) WITH ({options}, 'format' = 'json');"


@pytest.fixture
def places() -> Iterator[Grounds]:
    """Servers of its own: what a fault of another test is to mend in some seconds would let these sinks go on."""
    with grounds() as made:
        yield made


def text_of(sinks: Mapping[str, str]) -> str:
    """A source for each sink, and `beside`, which reads what goes to Kafka."""
    made = [SOURCE.format(name=name) for name in sinks if name != "beside"]
    made += [SINK.format(name=name, options=options) for name, options in sinks.items()]
    read = {name: name for name in sinks} | {"beside": "kafka"}
    inserts = [f"INSERT INTO {name} SELECT n, pad FROM from_{read[name]};" for name in sinks]
    return "\n".join([*made, "BEGIN STATEMENT SET;", *inserts, "END;"])


def resident_mb(handle: HeronHandle, job: Job) -> dict[str, float]:
    """What each process through which rows pass has in memory."""
    names = [f"{job.packing.container_of(task.id).id}/instance-{task.id}" for task in job.topology.tasks()]
    names += [f"{container.id}/stream-manager" for container in job.packing.containers]
    pages = {name: int(Path(f"/proc/{pid_of(handle, name)}/statm").read_text().split()[1]) for name in names}
    return {name: count * os.sysconf("SC_PAGE_SIZE") / 1e6 for name, count in pages.items()}


def acked(handle: HeronHandle, sink: str) -> int:
    """Of how many rows of this sink's source the acks have come."""
    return sum(end for _, end in handle.status().ranges.get(f"from_{sink}", {}).values())


def pending(handle: HeronHandle) -> int:
    """How many rows are on their way, of all sources."""
    status = handle.status()
    return status.rows_in - status.rows_acked


def all_wait(handle: HeronHandle) -> bool:
    """Whether the run says of each of these sinks that it waits; on a busy machine others may have waited for their disk."""
    told = [event.text for event in handle.status().events if "its sink has waited" in event.text]
    return all(any(text.startswith(f"'{name}'") for text in told) for name in SLOW)


def hold_up_soon(made: Mapping[str, Place]) -> None:
    """Hold up each sink when some of its rows have come through: counted by its proxy, for all is written while a test looks away."""
    for name in SLOW:
        for proxy in made[name].proxies:
            proxy.hold_up(after=PASS_BYTES)


def until(handle: HeronHandle, condition: Callable[[], bool]) -> None:
    """Wait for a condition of a run that goes on; what became of it otherwise is told."""
    wait_while_it_runs(
        handle,
        lambda _: condition(),
        told=lambda: (handle.status(), {name: acked(handle, name) for name in (*SLOW, "apart")}),
    )


def mend(made: Mapping[str, Place]) -> None:
    """Let all servers be reached."""
    for place in made.values():
        for proxy in place.proxies:
            proxy.mend()


def test_while_sinks_stand_still_nothing_grows_and_the_others_go_on(places: Grounds) -> None:
    made: dict[str, Place] = {name: places.place(name) for name in SLOW}
    made |= dict.fromkeys(("beside", "apart"), places.place("files"))
    written = {name: f"slow-{name}" for name in made}
    text = text_of({name: place.options(written[name], False) for name, place in made.items()})
    job = load_text(text, places.disk, "slow", SETTINGS)
    hold_up_soon(made)
    handle = start(job)
    assert isinstance(handle, HeronHandle)
    try:
        until(handle, lambda: acked(handle, "apart") == EVENTS and pending(handle) >= FULL * len(SLOW))
        before = resident_mb(handle, job)
        until(handle, lambda: made["beside"].found(written["beside"]).size >= acked(handle, "kafka") + FULL)
        until(handle, lambda: all_wait(handle))
        assert pending(handle) <= PENDING * len(SLOW), "sources read on, though nothing is acked"
        after = resident_mb(handle, job)
        assert {name: mb - before[name] for name, mb in after.items() if mb - before[name] > GROWTH_MB} == {}
        mend(made)
        wait_until(lambda: handle.wait(0.1), LIMIT_S)
        status = handle.status()
    finally:
        mend(made)
        handle._scheduler.on_kill()
    assert (status.state, status.reason, status.restarts) == (RunState.FINISHED, "", 0), (status.events, status)
    for name, place in made.items():
        found = place.found(written[name])
        assert np.array_equal(np.unique(found), np.arange(EVENTS)), name
        assert found.size - EVENTS <= (PENDING if name in SLOW else 0), f"{name}: only what was in flight comes twice"
