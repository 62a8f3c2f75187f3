"""Far more tasks than cores, or processes that hardly have one: nobody is killed for that, and what really hangs is found among them.

The kernel's figures are planted by a machine of straw; the time is its own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ouzel.runtime.protocol.cluster.starvation import Starvation, Usage
from ouzel.runtime.protocol.watchdog import Watchdog
from ouzel.runtime.protocol.watched_time import WatchedTime
from tests.effort import seeds
from tests.protocol.cluster.overload import LIMIT_MS, Overloaded

END_MS = 16 * LIMIT_MS
LATEST_MS = 10 * END_MS
TASKS = 12
STARVED = {
    "nobody": ((), 1),
    "a stream manager": (("1/stream-manager",), 3_000),
    "the topology master": (("0/topology-master",), 3_000),
    "an executor": (("1/executor",), 2_000),
    "a task": (("1/instance-0",), 2_000),
    "a container": (("1/",), 200),
    "server and executors": (("server", "executor"), 500),
    "all": (("",), 50),
}
"""Who hardly has a core, by parts of names, and how rarely: of so many times that one is free they get it once."""

VICTIMS = ("1/stream-manager", "0/topology-master", "1/executor", "1/instance-0", "2/metrics-manager")


def starve(world: Overloaded, who: str, from_ms: float, for_ms: float) -> None:
    """Starve a row of STARVED; where that is all, others on the machine have the cores."""
    parts, rarely = STARVED[who]
    chosen = [one for one in world.processes.values() if any(part in one.name for part in parts)]
    world.starve(chosen, rarely, from_ms, for_ms)
    if who == "all":
        world.add_strangers(8)


def healthy(seed: int, who: str) -> Overloaded:
    """A topology in which nothing is wrong but that there is no core."""
    world = Overloaded(f"{seed} {who}", TASKS)
    starve(world, who, world.random.uniform(0, END_MS / 4), world.random.uniform(0.5, 1) * END_MS)
    if who == "nobody":
        world.machine.stand_still(world.random.uniform(0, END_MS / 2), for_ms=30 * LIMIT_MS)
    world.run(END_MS)
    return world


def with_one_that_hangs(
    seed: int, who: str, tasks: int = TASKS, loops: bool = True, until_ms: float = LATEST_MS
) -> Overloaded:
    """A topology of which some starve for long, and in the middle of that one of all really hangs: it is stopped, sleeps or loops.

    One that loops is known by what it has computed, which takes as long as it takes to come by that.
    """
    world = Overloaded(f"{seed} {who}", tasks)
    starve(world, who, 0, 4 * END_MS)
    named = world.random.choice(VICTIMS)
    victim = next(one for one in world.processes.values() if one.name == named)
    ways = (world.stop, world.hang, world.loop) if loops else (world.stop, world.hang)
    world.random.choice(ways)(victim, 2 * LIMIT_MS)
    world.run(until_ms)
    return world


@pytest.mark.parametrize("who", STARVED)
@pytest.mark.parametrize("seed", seeds())
def test_nobody_is_killed_for_want_of_a_core(seed: int, who: str) -> None:
    world = healthy(seed, who)
    assert not world.kills, f"replay with seed={seed}"
    assert world.longest_silence_ms > LIMIT_MS, "all could speak in time: the test tests nothing"


@pytest.mark.parametrize("who", STARVED)
@pytest.mark.parametrize("seed", seeds())
def test_one_that_hangs_among_them_is_killed_and_no_other(seed: int, who: str) -> None:
    world = with_one_that_hangs(seed, who)
    assert (world.killed_for_nothing(), world.overlooked()) == ([], []), f"replay with seed={seed}"


@pytest.mark.parametrize("seed", seeds())
def test_of_300_tasks_on_two_cores_the_one_that_hangs_is_killed_and_no_other(seed: int) -> None:
    """Each watcher looks late, every time: it took each of its looks for the first after a time without a core, and found nothing."""
    world = with_one_that_hangs(seed, "nobody", tasks=300, loops=False)
    assert (world.killed_for_nothing(), world.overlooked()) == ([], []), f"replay with seed={seed}"


def is_broken(seed: int) -> bool:
    """Whether the laws above are broken under a seed, for one of those who may starve."""
    return any(
        healthy(seed, who).kills or (one := with_one_that_hangs(seed, who)).killed_for_nothing() or one.overlooked()
        for who in STARVED
    )


def excuse_nothing(silence: Starvation, usage: Usage | None, now_ms: float) -> None:
    silence._seen_ms = now_ms


def excuse_all(silence: Starvation, usage: Usage | None, now_ms: float) -> None:
    silence.excused_ms += now_ms - silence._seen_ms if silence._before else 0.0
    silence._before, silence._seen_ms = usage, now_ms


def without(**nothing: object) -> Callable[..., None]:
    """Of what the kernel says this is not heeded."""
    see = Starvation.see
    return lambda silence, usage, now_ms: see(silence, usage and usage._replace(**nothing), now_ms)


def excuse_stopped(silence: Starvation, usage: Usage | None, now_ms: float, see: Any = Starvation.see) -> None:
    see(silence, usage._replace(is_stopped=False, is_runnable=True) if usage and usage.is_stopped else usage, now_ms)


def count_all(time: WatchedTime, now_ms: float) -> float:
    before_ms, time._looked_ms = time._looked_ms, now_ms
    time.now_ms = now_ms
    return 0.0 if before_ms is None else now_ms - before_ms


def count_no_late_look(time: WatchedTime, now_ms: float) -> float:
    before_ms, time._looked_ms = time._looked_ms, now_ms
    gone_ms = now_ms - before_ms if before_ms is not None and now_ms - before_ms < time._step_ms else 0.0
    time.now_ms += gone_ms
    return gone_ms


PLANTED: dict[str, tuple[type, str, Callable[..., object]]] = {
    "any silence counts": (Starvation, "see", excuse_nothing),
    "no silence counts": (Starvation, "see", excuse_all),
    "waits count": (Starvation, "see", without(waited_ms=0.0, is_runnable=False)),
    "time in which nobody looked counts": (WatchedTime, "look", count_all),
    "a task's own waits count": (Watchdog, "is_suspect", lambda watchdog, now: False),
    "a stopped process is excused": (Starvation, "see", excuse_stopped),
}


@pytest.mark.parametrize("fault", PLANTED)
def test_a_planted_fault_is_found(monkeypatch: pytest.MonkeyPatch, fault: str) -> None:
    monkeypatch.setattr(*PLANTED[fault])
    assert any(is_broken(seed) for seed in range(3))


def test_that_late_looks_count_for_nothing_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(WatchedTime, "look", count_no_late_look)
    world = with_one_that_hangs(0, "nobody", tasks=300, loops=False, until_ms=2 * END_MS)
    assert world.overlooked()
