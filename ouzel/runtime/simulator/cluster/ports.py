"""What stands around a simulated instance in place of threads, sockets and files: each does its work when the cluster gives it a turn."""

from __future__ import annotations

import json
import math
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from queue import SimpleQueue
from random import Random

from ouzel.connectors.writing import SinkWriter
from ouzel.runtime.checkpoints.store import CheckpointStore
from ouzel.runtime.cluster.state import StateManager
from ouzel.runtime.process.direct_sink import DirectSink
from ouzel.runtime.process.epochs import PartWatch, SavedEpoch, SnapshotFiles
from ouzel.runtime.process.gateway import INBOX_BYTES_MAX, OUTBOX_BYTES_MAX
from ouzel.runtime.process.sink_thread import WAITING_BYTES_MAX, SinkOrder
from ouzel.runtime.protocol.cluster.metrics_manager import MetricsManagerMachine
from ouzel.runtime.protocol.cluster.report_stream import Compose
from ouzel.runtime.protocol.messages import Commit, Place, Write
from ouzel.runtime.simulator.cluster.wires import Wire, as_socket, receive
from ouzel.runtime.state.task_snapshot import TaskSnapshot
from ouzel.runtime.wire import wire_pb2
from ouzel.runtime.wire.stream import Closed, Frame, Inbound, Outbound

RECONNECTED = Frame(wire_pb2.RECONNECTED, 0, memoryview(b""))


class Delays:
    """How long things take in the background: drawn anew for each, up to `most_ms`."""

    def __init__(self, random: Random, most_ms: float) -> None:
        self._random, self.most_ms = random, most_ms

    def draw(self) -> float:
        """Milliseconds."""
        return self._random.random() * self.most_ms


class SimulatedGateway:
    """Carries frames between an instance and its stream manager; see Frames.

    Args:
        connect: the wires to the stream manager, to read and to write; None while none is there.
        low_watermark: a setting, bytes.
    """

    def __init__(self, connect: Callable[[], tuple[Wire, Wire] | None], low_watermark: int) -> None:
        self._connect, self._inbox_max = connect, min(INBOX_BYTES_MAX, low_watermark)
        self._incoming: Wire | None = None
        self._outgoing: Wire | None = None
        self._inbound, self._outbox = Inbound(), Outbound()
        self._frames: list[Frame] = []
        self._was_connected = False

    def take(self, timeout_s: float) -> list[Frame]:
        taken, self._frames = self._frames, []
        return taken

    def send(self, buffers: Sequence[memoryview]) -> None:
        self._outbox.put(buffers)

    def say(self, buffers: Sequence[memoryview]) -> None:
        self._outbox.put(buffers)

    def wake(self) -> None:
        """Nobody sleeps."""

    @property
    def has_room(self) -> bool:
        """Whether the task's thread would not wait for room to send."""
        return self._outbox.bytes <= OUTBOX_BYTES_MAX

    @property
    def inbox_bytes(self) -> int:
        """What has been read and is not taken."""
        return sum(len(frame.view) for frame in self._frames)

    def carry(self, now_ms: float) -> None:
        """A round of the gateway's thread."""
        if self._incoming is None and not self._reconnect():
            return
        assert self._incoming is not None
        assert self._outgoing is not None
        try:
            if self.inbox_bytes <= self._inbox_max and self._incoming.has_news(now_ms):
                self._frames += receive(self._incoming, self._inbound)
            self._outbox.flush(as_socket(self._outgoing))
        except Closed:
            self.hang_up()

    def hang_up(self) -> None:
        """The connection is lost, and what is on it."""
        if self._outgoing is not None:
            self._outgoing.lose()
        self._incoming = self._outgoing = None

    def _reconnect(self) -> bool:
        wires = self._connect()
        if wires is None:
            return False
        self._incoming, self._outgoing = wires
        self._inbound = Inbound()
        self._outbox.rewind(())
        if self._was_connected:
            self._frames.append(RECONNECTED)
        self._was_connected = True
        return True


class SimulatedSender:
    """Hands reports to the metrics manager that is there; see Sender."""

    def __init__(self, find: Callable[[], MetricsManagerMachine | None]) -> None:
        self._find = find
        self._last: MetricsManagerMachine | None = None

    def tell(self, compose: Compose) -> bool:
        listener = self._find()
        if listener is None:
            return False
        is_new, self._last = listener is not self._last, listener
        for report in compose(is_new):
            listener.on_report(wire_pb2.Report.FromString(report.SerializeToString()))
        return True


class SimulatedSink:
    """Carries out orders some time after they are given; see Sink."""

    def __init__(
        self, writer: SinkWriter, done: Callable[[], None], delays: Delays, clock: Callable[[], float]
    ) -> None:
        self._direct, self._delays, self._clock = DirectSink(writer, done), delays, clock
        self._orders: deque[tuple[float, SinkOrder]] = deque()
        self._failed: Exception | None = None
        self.busy_since = math.inf
        self.stalled_until_ms = 0.0

    @property
    def published(self) -> int:
        return self._direct.published

    @property
    def waiting_bytes(self) -> int:
        """What is handed over and not written."""
        return sum(int(order.frame.estimated_size()) for _, order in self._orders if isinstance(order, Write))

    def start(self) -> None:
        pass

    def put(self, order: SinkOrder) -> None:
        self._orders.append((self._clock() + self._delays.draw(), order))

    def has_room(self, timeout_s: float) -> bool:
        if self._failed:
            raise self._failed
        return self.waiting_bytes <= WAITING_BYTES_MAX

    def take(self) -> list[int]:
        return self._direct.take()

    def work(self) -> None:
        """A round of the sink's thread."""
        now = self._clock()
        while self._orders and self._orders[0][0] <= now and now >= self.stalled_until_ms and not self._failed:
            order = self._orders.popleft()[1]
            try:
                self._direct.put(order)
            except Exception as error:
                self._failed = error

    def close(self) -> None:
        self._orders.clear()
        self._direct.close()

    def abandon(self) -> bool:
        self._orders.clear()
        return self._direct.abandon()


class SimulatedOffsets:
    """Keeps offsets in the state manager, some time after they are noted; see Offsets."""

    def __init__(self, state: StateManager, path: str, delays: Delays, clock: Callable[[], float]) -> None:
        self._state, self._path, self._delays, self._clock = state, path, delays, clock
        self._noted: deque[tuple[float, Commit]] = deque()
        self.kept: SimpleQueue[int] = SimpleQueue()
        self.problems: SimpleQueue[str] = SimpleQueue()
        self.known = {name: Place(*place) for name, place in json.loads(state.get(path) or b"{}").items()}

    def begin_with(self, places: Mapping[str, Place]) -> None:
        self.known.update(places)
        self._write()

    def note(self, commit: Commit) -> None:
        self._noted.append((self._clock() + self._delays.draw(), commit))

    def work(self) -> None:
        """A round of the thread that writes; what cannot be written now is tried again."""
        with suppress(OSError):
            while self._noted and self._noted[0][0] <= self._clock():
                commit = self._noted[0][1]
                self.known.update(commit.places)
                self._write()
                self._noted.popleft()
                self.kept.put(commit.number)

    def close(self) -> None:
        pass

    def _write(self) -> None:
        self._state.put(self._path, json.dumps(self.known).encode())


class SimulatedSnapshots:
    """Writes snapshots some time after they are taken; see SnapshotWriter."""

    def __init__(self, store: CheckpointStore, delays: Delays, clock: Callable[[], float]) -> None:
        self._files, self._delays, self._clock = SnapshotFiles(store, clock), delays, clock
        self._waiting: deque[tuple[float, int, TaskSnapshot | str, PartWatch | None]] = deque()
        self._is_closed = False

    @property
    def saved(self) -> SavedEpoch:
        return self._files.saved

    @property
    def needs_whole(self) -> bool:
        return bool(self._waiting) or self._files.needs_whole

    def put(self, epoch: int, snapshot: TaskSnapshot | str, watch: PartWatch | None = None) -> None:
        if not self._is_closed:
            self._waiting.append((self._clock() + self._delays.draw(), epoch, snapshot, watch))

    def work(self) -> None:
        """A round of the thread that writes."""
        while self._waiting and self._waiting[0][0] <= self._clock():
            _, epoch, snapshot, watch = self._waiting.popleft()
            self._files.write(epoch, snapshot, watch)

    def close(self) -> None:
        self._is_closed = True
