"""What goes wrong in a simulated cluster: drawn from a seed before it begins, so that a history can be tried again without some of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from random import Random

from ouzel.runtime.protocol.cluster.epochs import Phase
from ouzel.runtime.protocol.cluster.updating import UpdateStep
from ouzel.runtime.simulator.cluster.cluster import LEADER, Cluster, ProcessKey
from ouzel.runtime.simulator.cluster.processes import StreamManagerProcess, TaskProcess


class FaultKind(Enum):
    """What goes wrong."""

    KILL = "dies"
    HANG = "hangs"
    CUT = "its connections are cut"
    SLOW = "its connections are slow"
    STATE_AWAY = "the state manager is away"
    DISK_FULL = "the disk of the epochs is full"
    TORN = "a file of the epochs is torn"
    SINK_STALLS = "what it writes to stands still"
    PAUSED = "a client pauses the topology"
    CLOCK_SET_BACK = "the wall clock is set back"
    LAGS = "it asks a server of the state manager that lags"
    UPDATED = "a client updates the topology"
    COMMAND_DIES = "the command that updates it dies"


OF_UPDATES = (FaultKind.UPDATED, FaultKind.COMMAND_DIES)
"""Kinds that come only where there are updates to draw from."""

_DRAWN_APART = (FaultKind.CLOCK_SET_BACK, FaultKind.LAGS, *OF_UPDATES)

ANYWHERE = (
    FaultKind.STATE_AWAY,
    FaultKind.DISK_FULL,
    FaultKind.TORN,
    FaultKind.PAUSED,
    FaultKind.CLOCK_SET_BACK,
    *OF_UPDATES,
)
"""Kinds that befall no process."""

OFTEN = (*(kind for kind in FaultKind if kind not in _DRAWN_APART), *5 * (FaultKind.KILL,), *2 * (FaultKind.HANG,))
"""What is drawn from."""

_IN_UPDATES = (
    *5 * (FaultKind.KILL,),
    *3 * (FaultKind.COMMAND_DIES,),
    FaultKind.HANG,
    FaultKind.CUT,
    FaultKind.STATE_AWAY,
    FaultKind.DISK_FULL,
    FaultKind.TORN,
)
"""What is drawn from for the midst of an update."""


@dataclass(frozen=True)
class ClusterFault:
    """One thing that goes wrong.

    Attributes:
        kind: what.
        at_ms: when, or soon after: as soon as the leader is in `phase`, if that is given.
        phase: what the leader must be doing.
        key: which process it befalls.
        lasts_ms: for how long, or by how much.
        most: so many bytes that were on a connection that is cut still arrive.
        step: it happens as soon as an update is in this step, if that is given.
        update: which of the cluster's updates it is.
        fails: the update fails, and is taken back, if its tasks do not begin within `lasts_ms`.
    """

    kind: FaultKind
    at_ms: float
    phase: Phase | None = None
    key: ProcessKey = (0, "")
    lasts_ms: float = 0.0
    most: int = 0
    step: UpdateStep | None = None
    update: int = 0
    fails: bool = False

    def __str__(self) -> str:
        what = self.kind.value if self.kind in ANYWHERE else f"{self.key[0]}/{self.key[1]}: {self.kind.value}"
        how = "by" if self.kind is FaultKind.CLOCK_SET_BACK else "for"
        lasts = f" {how} {self.lasts_ms:g} ms" if self.lasts_ms else ""
        if self.kind is FaultKind.UPDATED:
            lasts = f" ({self.update}){', which fails' if self.fails else ''}"
        during = "".join(f", {part.value}" for part in (self.phase, self.step) if part is not None)
        return f"from {self.at_ms:.0f} ms{during}: {what}{lasts}"

    def is_due(self, cluster: Cluster) -> bool:
        """Whether it happens now."""
        return (
            cluster.now_ms >= self.at_ms
            and self.phase in (None, cluster.phase)
            and self.step in (None, cluster.update_step)
        )

    def strike(self, cluster: Cluster) -> None:
        """It happens."""
        match self.kind:
            case FaultKind.KILL:
                cluster.kill(self.key)
            case FaultKind.HANG:
                cluster.hang(self.key, self.lasts_ms)
            case FaultKind.CUT | FaultKind.SLOW:
                self._strike_links(cluster)
            case FaultKind.STATE_AWAY:
                cluster.take_away("state", self.lasts_ms)
            case FaultKind.DISK_FULL:
                cluster.take_away("disk", self.lasts_ms)
            case FaultKind.TORN:
                cluster.disk.tears += 1
            case FaultKind.PAUSED:
                cluster.pause(self.lasts_ms)
            case FaultKind.CLOCK_SET_BACK:
                cluster.wall_zero_us -= int(1e3 * self.lasts_ms)
            case FaultKind.LAGS:
                cluster.mislead(self.key, self.lasts_ms)
            case FaultKind.UPDATED:
                cluster.update(self.update, self.lasts_ms if self.fails else None)
            case FaultKind.COMMAND_DIES:
                cluster.kill_command()
            case FaultKind.SINK_STALLS:
                process = cluster.alive.get(self.key)
                if isinstance(process, TaskProcess) and process.sink is not None:
                    process.sink.stalled_until_ms = cluster.now_ms + self.lasts_ms

    def _strike_links(self, cluster: Cluster) -> None:
        process = cluster.alive.get(self.key)
        if not isinstance(process, StreamManagerProcess):
            return
        for session, end in list(process.hub.ends.items()):
            if self.kind is FaultKind.CUT:
                process.hub.close(session, self.most)
            else:
                end.incoming.slow_until_ms = cluster.now_ms + self.lasts_ms


_TASKS = 0.75
"""So often it is a task that dies or hangs, and else any process."""


def draw_faults(
    random: Random, cluster: Cluster, most: int, kinds: tuple[FaultKind, ...] = OFTEN
) -> list[ClusterFault]:
    """Up to so many faults, one at least, in the order of their times."""
    faults = [_draw(random, cluster, random.choice(kinds)) for _ in range(random.randint(1, most))]
    if cluster.updates:
        faults += _draw_update(random, cluster)
    if cluster.has_standby and random.random() < _DEPOSED:
        faults += _draw_deposed(random, cluster)
    if random.random() < _SET_BACK:
        at_ms = 1_000.0 + 1_500.0 * random.random()
        faults.append(ClusterFault(FaultKind.CLOCK_SET_BACK, at_ms, lasts_ms=random.choice([1_000.0, 3_600_000.0])))
    return sorted(faults, key=lambda fault: fault.at_ms)


def _draw(random: Random, cluster: Cluster, kind: FaultKind) -> ClusterFault:
    keys = cluster.keys
    if kind in (FaultKind.CUT, FaultKind.SLOW):
        keys = [key for key in keys if key[1] == "stream-manager"]
    elif kind is FaultKind.HANG:
        keys = [key for key in keys if key[1] != "executor"]
    if kind is FaultKind.SINK_STALLS or (kind in (FaultKind.KILL, FaultKind.HANG) and random.random() < _TASKS):
        keys = [key for key in keys if key[1].startswith("instance")]
    return ClusterFault(
        kind,
        1_000.0 + random.choice([200.0, 600.0, 1_500.0]) * random.random(),
        random.choice([None, None, None, Phase.DRAINING, Phase.WRITING, Phase.GOING_BACK]),
        (0, "") if kind in ANYWHERE else random.choice(keys),
        0.0
        if kind in (FaultKind.KILL, FaultKind.CUT, FaultKind.TORN)
        else random.choice([50.0, 500.0, 1_500.0, 4_000.0]),
        random.choice([0, 100, 5_000]),
    )


def _draw_update(random: Random, cluster: Cluster) -> list[ClusterFault]:
    """An update, and what goes wrong in its midst."""
    number, fails = random.randrange(len(cluster.updates)), random.random() < _FAILS
    begins_ms = 1_000.0 + random.choice([300.0, 1_000.0]) * random.random()
    update = ClusterFault(
        FaultKind.UPDATED, begins_ms, lasts_ms=random.choice([0.0, 50.0, 300.0]), update=number, fails=fails
    )
    drawn = (_draw(random, cluster, random.choice(_IN_UPDATES)) for _ in range(random.choice([0, 1, 1, 2, 3])))
    return [update, *(replace(one, step=random.choice([None, *UpdateStep]), phase=None) for one in drawn)]


def _draw_deposed(random: Random, cluster: Cluster) -> list[ClusterFault]:
    """A topology master stands still until another leads, and goes on; for some time some find it who look for the leader."""
    begins_ms = 1_000.0 + 1_500.0 * random.random()
    phase = random.choice([None, Phase.DRAINING, Phase.WRITING, Phase.GOING_BACK])
    stands_ms = random.choice([1_300.0, 1_600.0, 1_900.0])
    managers = [key for key in cluster.keys if key[1] == "stream-manager"]
    misled = random.sample(managers, random.randint(0, len(managers)))
    return [
        ClusterFault(FaultKind.HANG, begins_ms, phase, LEADER, stands_ms),
        *(ClusterFault(FaultKind.LAGS, begins_ms, None, key, stands_ms + 1_500.0) for key in misled),
    ]


_FAILS, _DEPOSED, _SET_BACK = 0.15, 0.3, 0.1
"""So often an update is taken back; a topology master deposed, where there is a standby; the clock set back."""
