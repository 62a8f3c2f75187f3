"""Connections to Kestrel's servers: one thread with an event loop, which keeps several to each host and takes in what they hand out."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from threading import Lock, Thread

from ouzel.connectors.backlog import Backlog
from ouzel.connectors.kestrel.delivery_ledger import Blacklist, DeliveryLedger, OpenItems
from ouzel.connectors.kestrel.protocol import (
    STATS,
    Replies,
    confirm_command,
    get_command,
    monitor_command,
    statistics_of,
)
from ouzel.connectors.kestrel.servers import LOOK_AGAIN_S, Servers, Share
from ouzel.errors import ConnectorError

MONITOR_S = 1
"""A MONITOR command lasts so long; meanwhile its connection confirms nothing."""

WATCH_S = 1.0
"""So often a host is asked how many items wait there."""

WAIT_MS = 250
"""A GET waits so long for an item."""

BYTES_MAX = 64 << 20
"""With more than this taken in and not read, no connection takes in more."""

_CHUNK = 256 << 10
_LINES_MAX = 200_000
_FAREWELL_S = 5.0
LOOK_S = 0.02
"""A connection that can take in nothing looks so often whether it can."""


@dataclass(frozen=True)
class QueueReading:
    """What is read, and how: of each host `connections`, of each of these at most `pending` items open."""

    queue: str
    connections: int
    pending: int
    tracked: bool
    item_bytes_max: int
    timeout_s: float


class KestrelConnection:
    """A connection on which one command is sent, and its replies are read, at a time."""

    def __init__(self, host: str, reading: QueueReading) -> None:
        self.host, self._reading = host, reading
        self._replies = Replies(host, reading.item_bytes_max)
        self._ready: list[bytes | str] = []
        self._reader: asyncio.StreamReader
        self._writer: asyncio.StreamWriter | None = None

    async def open(self) -> None:
        """Connect.

        Raises:
            OSError: there is nobody.
        """
        name, _, port = self.host.rpartition(":")
        connecting = asyncio.open_connection(name, int(port), limit=_CHUNK)
        self._reader, self._writer = await asyncio.wait_for(connecting, self._reading.timeout_s)

    def send(self, command: bytes) -> None:
        """Write a command."""
        assert self._writer is not None
        self._writer.write(command)

    async def replies(self, timeout_s: float) -> list[bytes | str]:
        """What comes next, one reply at least.

        Raises:
            OSError: the connection broke, or nothing came for so long.
            ConnectorError: what came cannot be taken.
        """
        while True:
            data = await asyncio.wait_for(self._reader.read(_CHUNK), timeout_s)
            if not data:
                raise ConnectionResetError(f"Kestrel at {self.host} closed the connection")
            if found := list(self._replies.feed(data)):
                return found

    async def ask(self, command: bytes) -> str:
        """A command that one line answers."""
        self.send(command)
        line = (await self.replies(self._reading.timeout_s))[0]
        return line if isinstance(line, str) else ""

    async def backlog(self, queue: str) -> Backlog:
        """What the server says of a queue; nothing waits in one that it does not know."""
        self.send(STATS)
        lines: list[str] = []
        while "END" not in lines[-1:]:
            lines += [line for line in await self.replies(self._reading.timeout_s) if isinstance(line, str)]
            if lines[0] in ("ERROR", "CLIENT_ERROR", "NOT_FOUND") or len(lines) > _LINES_MAX:
                raise ConnectionResetError("it tells no statistics that can be read")
        told = statistics_of(lines, queue)
        place = f"{queue} at {self.host}"
        return Backlog(place, told.get("items", 0), told.get("bytes"), told.get("age"), told.get("logsize"))

    def close(self) -> None:
        """Let go of it; what is open goes back."""
        if self._writer is not None:
            self._writer.close()


class Client(Thread):
    """Takes in items of one queue into `ledger`, of which it has the `lock`. `failure` ends it.

    Which of the `servers` it reads goes by `turn`: the number of its task, and how many tasks there are.
    """

    def __init__(self, reading: QueueReading, servers: Servers, turn: tuple[int, int], ledger: DeliveryLedger) -> None:
        super().__init__(name="kestrel", daemon=True)
        self.lock, self.ledger, self.blacklist = Lock(), ledger, Blacklist()
        self.failure: ConnectorError | None = None
        self._reading, self._turn, self.servers = reading, turn, servers
        self.queue, self.share = reading.queue, servers.share(*turn)
        self._takes, self._runs = True, True
        self._connected = Counter[str]()
        self._keepers: dict[asyncio.Task[None], str] = {}
        self._watches: dict[str, asyncio.Task[None]] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._decided, self._stopped = asyncio.Event(), asyncio.Event()
        self.waits: dict[str, Backlog] = {}
        self._used: dict[OpenItems, asyncio.Task[None]] = {}
        self.start()

    @property
    def is_connected(self) -> bool:
        """Whether every connection is there."""
        return all(self._connected[host] == self._reading.connections for host in self.share.hosts)

    def on_decided(self) -> None:
        """It is known of items what becomes of them: have that looked at now."""
        if self._loop is not None:
            with contextlib.suppress(RuntimeError):  # it has just ended
                self._loop.call_soon_threadsafe(self._wake)

    def _wake(self) -> None:
        former, self._decided = self._decided, asyncio.Event()
        former.set()

    def take_no_more(self) -> None:
        """Ask for no more items; what is handled is still confirmed."""
        self._takes = False

    def close(self) -> None:
        """Confirm what is handled, then let go of all connections."""
        self._takes = self._runs = False
        if self._loop is not None:
            with contextlib.suppress(RuntimeError):  # it has just ended
                self._loop.call_soon_threadsafe(self._end_idle)
        self.join(_FAREWELL_S)

    def _end_idle(self) -> None:
        """Connections that have nothing to confirm need not wait for what was asked on them."""
        self._stopped.set()
        with self.lock:
            idle = [task for opened, task in self._used.items() if opened.is_idle]
        for task in idle:
            task.cancel()

    def run(self) -> None:
        """The thread's work."""
        try:
            asyncio.run(self._serve())
        except ConnectorError as error:
            self.failure = error
        except Exception as error:
            self.failure = ConnectorError(f"reading Kestrel failed: {type(error).__name__}: {error}")

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        look_s = LOOK_AGAIN_S if self.servers.may_change else None
        stopped = asyncio.create_task(self._stopped.wait())
        while self._runs:
            self._follow()
            await asyncio.wait({stopped, *self._keepers}, timeout=look_s, return_when=asyncio.FIRST_COMPLETED)
            if look_s is not None and self._runs:
                self.share = await asyncio.to_thread(self._look)
        await asyncio.gather(*self._keepers)

    def _look(self) -> Share:
        self.servers.look()
        return self.servers.share(*self._turn)

    def _follow(self) -> None:
        """Keep connections to all hosts of the share. Those to others end by themselves, when what they have open is handled."""
        for task in [task for task in self._keepers if task.done()]:
            del self._keepers[task]
            task.result()
        kept = Counter(self._keepers.values())
        for host in self.share.hosts:
            for _ in range(self._reading.connections - kept[host]):
                self._keepers[asyncio.create_task(self._keep(host))] = host
        for host in self._watches.keys() - self.share.watched:
            self._watches.pop(host).cancel()
        for host in self.share.watched - self._watches.keys():
            self._watches[host] = asyncio.create_task(self._watch(host))

    async def _watch(self, host: str) -> None:
        """Ask a host again and again what waits in its queue."""
        while self._runs:
            connection = KestrelConnection(host, self._reading)
            try:
                with contextlib.suppress(OSError, EOFError, ConnectorError):
                    await connection.open()
                    while self._runs:
                        self.waits[host] = await connection.backlog(self._reading.queue)
                        await asyncio.sleep(WATCH_S)
            finally:
                connection.close()
                self.waits.pop(host, None)
            await asyncio.sleep(WATCH_S)

    async def _keep(self, host: str) -> None:
        """Keep one connection, through all its lives, while the host is to be read."""
        while self._runs and host in self.share.hosts:
            await asyncio.sleep(min(self.blacklist.wait_s(host, time.monotonic()), 0.1))
            if self.blacklist.wait_s(host, time.monotonic()):
                continue
            opened, connection = OpenItems(host), KestrelConnection(host, self._reading)
            try:
                await connection.open()
                with self.lock:
                    self.ledger.opened.append(opened)
                    self._connected[host] += 1
                self._used[opened] = asyncio.create_task(self._use(connection, opened))
                await self._used[opened]
            except asyncio.CancelledError:
                return
            except (OSError, EOFError) as error:
                reason = f"Kestrel at {host} cannot be read: {_describe(error)}"
                self.blacklist.on_failure(host, reason, time.monotonic())
            finally:
                connection.close()
                self._used.pop(opened, None)
                with self.lock:
                    if opened in self.ledger.opened:
                        self._connected[host] -= 1
                        self.ledger.end(opened)

    async def _use(self, connection: KestrelConnection, opened: OpenItems) -> None:
        """Take in and confirm, until the connection is to go."""
        while True:
            await self._confirm(connection, opened)
            with self.lock:
                if opened.host not in self.share.hosts:
                    self.ledger.leave(opened)
                room = self._reading.pending - len(opened.open) if self._reading.tracked else self._reading.pending
                full = self.ledger.bytes >= BYTES_MAX or (not self._reading.tracked and len(opened.waiting) >= room)
                goes = opened.may_go or not (self._runs or opened.can_confirm)
            if goes:
                return
            if not self._runs:  # more was handled while the server took a confirmation
                continue
            if full or room <= 0 or opened.goes or not self._takes:
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._decided.wait(), LOOK_S)
            elif self._reading.tracked and self._reading.pending > 1:
                await self._monitor(connection, opened, room)
            else:
                await self._get(connection, opened)

    async def _confirm(self, connection: KestrelConnection, opened: OpenItems) -> None:
        """Close what is handled."""
        with self.lock:
            count = opened.confirm()
        if not count:
            return
        single = self._reading.pending == 1
        command = get_command(self._reading.queue, "close") if single else confirm_command(self._reading.queue, count)
        answer = await connection.ask(command)
        if answer != "END":
            raise ConnectionResetError(f"to a confirmation it says {answer!r}")
        with self.lock:
            opened.on_confirmed(count)

    async def _monitor(self, connection: KestrelConnection, opened: OpenItems, room: int) -> None:
        """Take in items as they come, until the server says that the time is over."""
        connection.send(monitor_command(self._reading.queue, MONITOR_S, room))
        taken = 0
        while True:
            replies = await connection.replies(MONITOR_S + self._reading.timeout_s)
            self.blacklist.on_answer(opened.host)
            with self.lock:
                for reply in replies:
                    if isinstance(reply, bytes):
                        self.ledger.take(opened, reply)
                        taken += 1
                ended = [reply for reply in replies if isinstance(reply, str)]
                opened.is_empty = bool(ended) and not taken
            if ended:
                return _check(ended[0], opened.host, "MONITOR", "'pending.items' = '1'")

    async def _get(self, connection: KestrelConnection, opened: OpenItems) -> None:
        """Take in one item."""
        options = ("open",) if self._reading.tracked else ()
        connection.send(get_command(self._reading.queue, f"t={WAIT_MS}", *options))
        (reply, *_) = await connection.replies(WAIT_MS / 1000 + self._reading.timeout_s)
        self.blacklist.on_answer(opened.host)
        with self.lock:
            if isinstance(reply, bytes):
                self.ledger.take(opened, reply)
            else:
                opened.is_empty = True
        if isinstance(reply, str):
            _check(reply, opened.host, "GET", "the name of a queue that the server has")


def _check(line: str, host: str, command: str, instead: str) -> None:
    if line in ("ERROR", "CLIENT_ERROR") or line.startswith(("CLIENT_ERROR ", "ERROR ")):
        raise ConnectorError(f"Kestrel at {host} refuses {command} with {line!r}; write {instead}")
    if line != "END":
        raise ConnectionResetError(f"to {command} it says {line!r}")


def _describe(error: BaseException) -> str:
    return str(error) or type(error).__name__


def greet(hosts: Sequence[str], reading: QueueReading) -> None:
    """See that one of the hosts, at least, is there.

    Raises:
        ConnectorError: none is; the text says what each says.
    """
    reasons = asyncio.run(_reasons(hosts, reading))
    if len(reasons) == len(hosts):
        raise ConnectorError(f"no Kestrel server answers: {'; '.join(reasons)}")


async def _reasons(hosts: Sequence[str], reading: QueueReading) -> list[str]:
    async def reason(host: str) -> str:
        connection = KestrelConnection(host, reading)
        try:
            await connection.open()
            await connection.ask(b"version\r\n")
        except (OSError, EOFError) as error:
            return f"{host}: {_describe(error)}"
        finally:
            with contextlib.suppress(OSError):
                connection.close()
        return ""

    return [found for found in await asyncio.gather(*map(reason, hosts)) if found]
