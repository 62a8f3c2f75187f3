"""Kestrel's memcache protocol as bytes: what a client writes, and what it is told. Knows no sockets.

An item comes as `VALUE queue 0 size`, its bytes, and a line `END`; everything else a server says is a line. A line has a limit, and so has
an item, whatever the server sends.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ouzel.errors import ConnectorError

LINE_MAX = 4_096
_END = b"END"


class Replies:
    """Bytes as they come in, and the replies that are whole: an item as bytes, anything else as its line, a text."""

    def __init__(self, host: str, item_bytes_max: int) -> None:
        self._host, self._most = host, item_bytes_max
        self._buffer = bytearray()

    def feed(self, data: bytes) -> Iterator[bytes | str]:
        """The replies that these bytes complete.

        Raises:
            ConnectorError: an item is larger than allowed, or this is not Kestrel's protocol.
        """
        self._buffer += data
        at = 0
        while (end := self._buffer.find(b"\n", at)) >= 0:
            line = bytes(self._buffer[at:end]).strip()
            if not line.startswith(b"VALUE "):
                at = end + 1
                yield line.decode(errors="replace")
                continue
            size = self._size_of(line)
            last = self._buffer.find(b"\n", end + 1 + size + 2)
            if last < 0:
                break
            if bytes(self._buffer[end + 1 + size + 2 : last]).strip() != _END:
                raise self._strange(line)
            item = bytes(self._buffer[end + 1 : end + 1 + size])
            at = last + 1
            yield item
        del self._buffer[:at]
        if len(self._buffer) > LINE_MAX and b"\n" not in self._buffer[: LINE_MAX + 1]:
            raise self._strange(bytes(self._buffer[:40]))

    def _size_of(self, line: bytes) -> int:
        words = line.split()
        if len(words) < 4 or not words[3].isdigit() or len(line) > LINE_MAX:
            raise self._strange(line[:40])
        size = int(words[3])
        if size > self._most:
            raise ConnectorError(
                f"Kestrel at {self._host} hands out an item of {size:,} bytes, and 'item.max.bytes' is {self._most:,}; raise it, or take "
                "the item out of the queue"
            )
        return size

    def _strange(self, found: bytes) -> ConnectorError:
        return ConnectorError(f"{self._host} does not speak Kestrel's memcache protocol: it says {found!r}")


def set_command(queue: str, expiry_s: int, items: Sequence[bytes]) -> bytes:
    """SET, once an item."""
    return b"".join(b"set %s 0 %d %d\r\n%b\r\n" % (queue.encode(), expiry_s, len(item), item) for item in items)


def get_command(queue: str, *options: str) -> bytes:
    """GET with options."""
    return f"get {'/'.join((queue, *options))}\r\n".encode()


def monitor_command(queue: str, seconds: int, most: int) -> bytes:
    """MONITOR: items are open as they come; `END` says that the time is over, or that so many have come."""
    return f"monitor {queue} {seconds} {most}\r\n".encode()


def confirm_command(queue: str, count: int) -> bytes:
    """CONFIRM: the first that are open are closed."""
    return f"confirm {queue} {count}\r\n".encode()


STATS = b"stats\r\n"


def statistics_of(lines: Sequence[str], queue: str) -> dict[str, int]:
    """What STATS says of a queue: items, bytes, age and so on."""
    start = f"queue_{queue}_"
    told = (line.split(" ", 2) for line in lines if line.startswith("STAT "))
    return {
        words[1].removeprefix(start): int(words[2])
        for words in told
        if words[1].startswith(start) and words[2].isdigit()
    }
