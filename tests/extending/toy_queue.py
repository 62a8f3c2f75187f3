"""A queue in one file: items that are acknowledged one by one, and handed out again otherwise. The server is a list in this process."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import replace

import polars as pl

from ouzel.connectors.base import Connector, Option, Replay
from ouzel.connectors.reading import Committed, OffsetRange, Partition, ReadBatch, ReadState, SourceRequest
from tests.extending import toy_connector

assert toy_connector.CONNECTOR.reads is not None

CONNECTOR = Connector(
    "toy_queue",
    "Whole numbers that are handed out until they are acknowledged.",
    (Option("name", "Which of QUEUES.", required=True),),
    replace(toy_connector.CONNECTOR.reads, source="tests.extending.toy_queue:ToyQueueSource", replay=Replay.TOKEN),
)


class Session:
    """What one client has in its hands: number -> item."""

    def __init__(self) -> None:
        self.open: dict[int, int] = {}
        self.handed = 0


class ToyQueue:
    """The server: items that wait, those in the hands of clients, and how often items were handed out again."""

    def __init__(self, items: Sequence[int]) -> None:
        self.waiting, self.sessions, self.again = deque(items), dict[str, Session](), 0

    def connect(self, client: str) -> Session:
        """A client comes; if it was here before it has died meanwhile."""
        self.disconnect(client)
        self.sessions[client] = Session()
        return self.sessions[client]

    def disconnect(self, client: str) -> None:
        """What the client had in its hands is to be handed out again."""
        if client in self.sessions:
            self.take_back(self.sessions[client], list(self.sessions[client].open))

    def take_back(self, session: Session, numbers: Sequence[int]) -> None:
        """Items go to the head of the queue, as those that come out next."""
        found = [session.open.pop(number) for number in numbers if number in session.open]
        self.again += len(found)
        self.waiting.extendleft(reversed(found))


QUEUES: dict[str, ToyQueue] = {}


class ToyQueueSource:
    """A partition for each task; each is a client."""

    def __init__(self, request: SourceRequest) -> None:
        self._request, self._queue = request, QUEUES[request.options["name"]]

    def partitions(self) -> Sequence[Partition]:
        return [Partition(f"{self._request.table}-{task}", True) for task in range(self._request.tasks)]

    def reader(self, partition: Partition, offset: int | None) -> ToyItems:
        return ToyItems(self._queue, self._queue.connect(partition.id), self._request)

    def reach(self, partition: Partition, offset: int | None, rows: int) -> OffsetRange:
        raise AssertionError("nobody asks a queue for offsets")

    def commit(self, places: Mapping[str, Committed]) -> str:
        raise AssertionError("nobody commits offsets of a queue")

    def committed(self) -> Mapping[str, Committed]:
        return {}

    def close(self) -> None:
        pass


class ToyItems:
    """Reads items; a number is given to each as it comes."""

    def __init__(self, queue: ToyQueue, session: Session, request: SourceRequest) -> None:
        self._queue, self._session, self._request = queue, session, request

    def read(self, rows: int, until: int | None = None) -> ReadBatch | ReadState:
        queue, session = self._queue, self._session
        if not queue.waiting:
            return ReadState.WAIT if session.open else ReadState.END
        start = session.handed
        items = [queue.waiting.popleft() for _ in range(min(rows, len(queue.waiting)))]
        session.handed += len(items)
        if self._request.tracked:
            session.open |= dict(enumerate(items, start))
        return ReadBatch(
            pl.DataFrame({name: pl.Series(items, dtype=kind) for name, kind in self._request.columns.items()}),
            start,
            session.handed,
        )

    def acknowledge(self, start: int, end: int) -> int:
        closed = [self._session.open.pop(number, None) for number in range(start, end)]
        return closed.count(None) if self._request.tracked else 0

    def give_back(self, start: int, end: int) -> None:
        self._queue.take_back(self._session, range(start, end))

    def held(self, start: int, end: int) -> int:
        return sum(number in self._session.open for number in range(start, end))

    def kept(self) -> None:
        return None

    def close(self) -> None:
        pass
