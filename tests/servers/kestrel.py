"""A Kestrel server for tests, for no real one can be had: the memcache protocol of Kestrel's guide, in asyncio, with a journal on disk.

Queues, reliable reads (/open, /close, /abort, /t=, /peek; MONITOR and CONFIRM), expiry, fanout queues (`queue+child`), limits, statistics
and statuses are there; thrift, the text protocol, aliases, inheritance of settings and ZooKeeper are not. Items that a client has open go
back to the head of their queue when it goes. The journal outlives the process, though not the host.

    python -m tests.servers.kestrel --port 22133 --journal DIR
"""

from __future__ import annotations

import argparse
import asyncio
import signal
import socket
import sys
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.servers.kestrel_queues import VERSION, Item, Queue, Server
from tests.servers.process import ServerProcess

LINE_MAX = 4_096
ITEM_MAX = 16 << 20


@dataclass
class _Wait:
    """What a connection waits for: items of a queue, at most so many, until a timer says that it is enough."""

    queue: Queue
    opens: bool
    left: int
    monitors: bool
    timer: asyncio.TimerHandle


class Session(asyncio.Protocol):
    """One connection: commands one after the other, and what it has open, in the order in which it was read."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._buffer = bytearray()
        self._open: dict[str, deque[Item]] = {}
        self._wait: _Wait | None = None
        self._transport: asyncio.Transport
        self._commands: dict[str, Callable[..., None]] = {
            "get": self._get, "gets": self._get, "set": self._set, "monitor": self._monitor, "confirm": self._confirm,
            "stats": self._stats, "dump_stats": self._dump_stats, "flush": self._flush, "flush_all": self._flush_all,
            "delete": self._delete, "version": self._version, "status": self._status, "quit": self._quit,
            "shutdown": self._shutdown,
        }  # fmt: skip

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """See asyncio."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._server.counts.update(curr_connections=1, total_connections=1)

    def connection_lost(self, exc: Exception | None) -> None:
        """What it had open is handed back, so that the first read is the first again."""
        self._server.counts["curr_connections"] -= 1
        self._end_wait()
        for name, items in self._open.items():
            self._server.hand_back(self._server.queue(name), items)
        self._open.clear()

    def data_received(self, data: bytes) -> None:
        """Carry out what is there wholly."""
        self._server.counts["bytes_read"] += len(data)
        self._buffer += data
        self._advance()

    def _advance(self) -> None:
        while self._wait is None and not self._transport.is_closing():
            end = self._buffer.find(b"\n")
            if end < 0:
                if len(self._buffer) > LINE_MAX:
                    self._refuse()
                return
            words = self._buffer[:end].decode(errors="replace").split()
            body = b""
            if words and words[0].lower() == "set":
                size = int(words[4]) if len(words) == 5 and words[4].isdecimal() else ITEM_MAX + 1
                if size > ITEM_MAX:
                    self._refuse()
                    return
                if len(self._buffer) < end + 1 + size + 2:
                    return
                body, end = bytes(self._buffer[end + 1 : end + 1 + size]), end + size + 2
            del self._buffer[: end + 1]
            self._carry_out(words, body)

    def _carry_out(self, words: list[str], body: bytes) -> None:
        command = self._commands.get(words[0].lower()) if words else None
        if command is None:
            self._say("CLIENT_ERROR")
            return
        try:
            command(*words[1:], *((body,) if command == self._set else ()))
        except (TypeError, ValueError):
            self._refuse()

    def _say(self, *lines: str) -> None:
        self._write("".join(f"{line}\r\n" for line in lines).encode())

    def _write(self, data: bytes) -> None:
        self._server.counts["bytes_written"] += len(data)
        self._transport.write(data)

    def _refuse(self, reason: str = "CLIENT_ERROR") -> None:
        self._say(reason)
        self._transport.close()

    # Writing.

    def _set(self, name: str, flags: str, expiry: str, size: str, data: bytes) -> None:
        self._server.counts["cmd_set"] += 1
        if self._server.status != "UP":
            self._say("ERROR")
            return
        self._say("STORED" if self._server.add(name, data, int(expiry)) else "NOT_STORED")

    # Reading.

    def _get(self, key: str) -> None:
        name, *options = key.split("/")
        waits = [int(option[2:]) for option in options if option.startswith("t=")]
        closes, opens, aborts, peeks = (option in options for option in ("close", "open", "abort", "peek"))
        if not name or ((peeks or aborts) and (opens or closes)) or (peeks and aborts):
            self._refuse()
            return
        if self._server.status == "QUIESCENT" and not closes:
            self._say("ERROR")
            return
        queue = self._server.queue(name)
        if aborts:
            self._abort(queue)
            self._say("END")
            return
        if closes:
            self._close(queue, 1)
            if not opens:
                self._say("END")
                return
        if self._open.get(name) and not peeks:
            self._refuse("ERROR")  # only one may be open, and none be read for good meanwhile
            return
        self._server.counts["cmd_peek" if peeks else "cmd_get"] += 1
        queue.counts["transactions"] += opens
        item = self._server.take(queue, peeks)
        self._server.counts["get_misses" if item is None else "get_hits"] += 1
        if item is not None:
            self._give(queue, item, opens, keeps=peeks)
        elif waits and waits[0] > 0 and not peeks:
            self._begin_wait(queue, opens, 1, False, waits[0] / 1000)
        else:
            self._say("END")

    def _monitor(self, name: str, seconds: str, most: str = "0") -> None:
        queue = self._server.queue(name)
        self._begin_wait(queue, True, int(most) or sys.maxsize, True, int(seconds))
        self._feed()

    def _begin_wait(self, queue: Queue, opens: bool, left: int, monitors: bool, seconds: float) -> None:
        timer = asyncio.get_running_loop().call_later(seconds, self._waited)
        self._wait = _Wait(queue, opens, left, monitors, timer)
        queue.waiters.append(self)

    def offered(self) -> None:
        """There is something in the queue that it waits for; whoever serves has taken it off the queue's list."""
        if self._wait is None or self._transport.is_closing():
            return
        self._wait.queue.waiters.append(self)
        self._feed()
        self._advance()

    def _feed(self) -> None:
        """Give what is there to this connection, if it waits."""
        wait = self._wait
        while wait and wait.left and not self._transport.is_closing() and (item := self._server.take(wait.queue)):
            wait.left -= 1
            self._server.counts["get_hits"] += 1
            self._give(wait.queue, item, wait.opens)
        if wait is not None and not wait.left:
            self._end_wait()
            if wait.monitors:
                self._say("END")

    def _waited(self) -> None:
        self._end_wait()
        self._say("END")
        self._advance()

    def _end_wait(self) -> None:
        if self._wait is not None:
            self._wait.timer.cancel()
            if self in self._wait.queue.waiters:
                self._wait.queue.waiters.remove(self)
            self._wait = None

    def _give(self, queue: Queue, item: Item, opens: bool, keeps: bool = False) -> None:
        if opens:
            self._open.setdefault(queue.name, deque()).append(item)
            queue.counts["open_transactions"] += 1
        elif not keeps:
            self._server.remove(queue, item)
        self._write(b"VALUE %s 0 %d\r\n%s\r\nEND\r\n" % (queue.name.encode(), len(item.data), item.data))

    def _confirm(self, name: str, count: str) -> None:
        self._say("END" if self._close(self._server.queue(name), int(count)) else "ERROR")

    def _close(self, queue: Queue, count: int) -> bool:
        """Forget the first that are open."""
        items = self._open.get(queue.name, deque())
        if len(items) < count:
            return False
        for _ in range(count):
            self._server.remove(queue, items.popleft())
        queue.counts["open_transactions"] -= count
        return True

    def _abort(self, queue: Queue) -> None:
        """Hand back the last that was opened."""
        items = self._open.get(queue.name)
        if items:
            self._server.hand_back(queue, [items.pop()])

    # What else there is.

    def _stats(self) -> None:
        self._say(*(f"STAT {name} {value}" for name, value in self._server.statistics().items()), "END")

    def _dump_stats(self) -> None:
        for queue in self._server.queues.values():
            told = [f"  {name}={value}" for name, value in self._server.of_queue(queue).items()]
            self._say(f"queue '{queue.name}' {{", *told, "}")
        self._say("END")

    def _flush(self, name: str) -> None:
        self._server.flush(self._server.queue(name))
        self._say("END")

    def _flush_all(self) -> None:
        for queue in self._server.queues.values():
            self._server.flush(queue)
        self._say("Flushed all queues.")

    def _delete(self, name: str) -> None:
        self._server.delete(name)
        self._say("END")

    def _version(self) -> None:
        self._say(f"VERSION {VERSION}")

    def _status(self, wanted: str = "") -> None:
        if wanted.upper() in ("UP", "READONLY", "QUIESCENT"):
            self._server.status = wanted.upper()
        self._say("END" if wanted else self._server.status)

    def _quit(self) -> None:
        self._transport.close()

    def _shutdown(self) -> None:
        self._transport.close()
        asyncio.get_running_loop().stop()


class Talk:
    """A client by hand."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), 120)
        self._file = self._socket.makefile("rb")

    def say(self, command: str, body: bytes | None = None) -> str:
        """The first line of the answer, or of an item its bytes."""
        tail = b"" if body is None else body + b"\r\n"
        self._socket.sendall(command.encode() + b"\r\n" + tail)
        return self.hear()

    def hear(self) -> str:
        """The next line, or of an item its bytes; empty if the server has closed the connection."""
        line = self._file.readline().decode().strip()
        if not line.startswith("VALUE"):
            return line
        item = self._file.read(int(line.split()[3]) + 2)[:-2]
        assert self._file.readline().strip() == b"END"
        return item.decode()

    def hear_lines(self) -> list[str]:
        """Lines up to END."""
        lines = [self.hear()]
        while lines[-1] != "END":
            lines.append(self.hear())
        return lines

    def put(self, queue: str, *items: str, expiry: int = 0) -> None:
        """SET each."""
        for item in items:
            assert self.say(f"set {queue} 0 {expiry} {len(item)}", item.encode()) == "STORED"

    def stats(self, queue: str) -> dict[str, int]:
        """What STATS says of a queue."""
        lines = [self.say("stats"), *self.hear_lines()]
        found = (line.split() for line in lines if f"queue_{queue}_" in line)
        return {words[1].removeprefix(f"queue_{queue}_"): int(words[2]) for words in found}

    def close(self) -> None:
        """Go."""
        self._file.close()
        self._socket.close()


class KestrelServer(ServerProcess):
    """A server as a process of its own."""

    look_s = 0.02

    def __init__(self, directory: Path, *options: str) -> None:
        super().__init__(directory)
        self._options = options
        self.start()

    @property
    def address(self) -> str:
        """host:port for 'servers'."""
        return f"127.0.0.1:{self.port}"

    def command(self) -> list[str]:
        """See ServerProcess."""
        where = ("--port", str(self.port), "--journal", str(self.directory))
        return [sys.executable, "-m", "tests.servers.kestrel", *where, *self._options]


def main() -> None:
    """Serve until stopped."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--journal", type=Path)
    parser.add_argument("--max-items", type=int, default=0)
    parser.add_argument("--max-age-ms", type=int, default=0)
    given = parser.parse_args()
    server = Server(given.journal, given.max_items, given.max_age_ms)
    loop = asyncio.new_event_loop()
    loop.add_signal_handler(signal.SIGTERM, loop.stop)
    listening = loop.run_until_complete(loop.create_server(lambda: Session(server), "127.0.0.1", given.port))
    print(f"listening on {listening.sockets[0].getsockname()[1]}", flush=True)
    loop.run_forever()


if __name__ == "__main__":
    main()
