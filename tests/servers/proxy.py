"""A TCP proxy on this machine that a test tells to cut, delay or hold up what passes."""

from __future__ import annotations

import asyncio
import socket
import struct
from threading import Thread

_CHUNK = 1 << 16
_RESET = struct.pack("ii", 1, 0)


class Proxy:
    """Passes connections to `port` on, in both directions, from a thread of its own; clients connect to `listens`."""

    def __init__(self, port: int = 0) -> None:
        self.port = port
        self._delay_s, self._takes, self._bytes_left = 0.0, True, 0
        self._writers: set[asyncio.StreamWriter] = set()
        self._loop = asyncio.new_event_loop()
        self._flows = asyncio.Event()
        self._flows.set()
        self._server = self._loop.run_until_complete(asyncio.start_server(self._pass_on, "127.0.0.1", 0))
        self.listens = int(self._server.sockets[0].getsockname()[1])
        self._thread = Thread(target=self._loop.run_forever, name="proxy", daemon=True)
        self._thread.start()

    @property
    def address(self) -> str:
        """host:port for clients."""
        return f"127.0.0.1:{self.listens}"

    def cut(self) -> None:
        """Reset all connections, and take none until `mend`."""
        self._takes = False
        self._loop.call_soon_threadsafe(self._reset_all)

    def delay(self, seconds: float) -> None:
        """Hold each piece back for so long."""
        self._delay_s = seconds

    def hold_up(self, after: int = 0) -> None:
        """Pass nothing on until `mend`, and take in no more than fits into buffers; once so many bytes more have passed, about."""
        self._loop.call_soon_threadsafe(self._hold_up, after)

    def _hold_up(self, after: int) -> None:
        self._bytes_left = after
        if not after:
            self._flows.clear()

    def mend(self, in_s: float = 0.0) -> None:
        """Pass on as before, soon or after so many seconds."""
        self._loop.call_soon_threadsafe(self._loop.call_later, in_s, self._mend)

    def _mend(self) -> None:
        self._delay_s, self._takes, self._bytes_left = 0.0, True, 0
        self._flows.set()

    def close(self) -> None:
        """End it, and all that passes through it."""

        async def end() -> None:
            self._server.close()
            self._reset_all()
            self._flows.set()
            rest = asyncio.all_tasks() - {asyncio.current_task()}
            for task in rest:
                task.cancel()
            await asyncio.gather(*rest, return_exceptions=True)

        asyncio.run_coroutine_threadsafe(end(), self._loop).result(120)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _reset_all(self) -> None:
        for writer in self._writers:
            writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
            writer.transport.abort()

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        try:
            if not self._takes:
                return
            there, to_there = await asyncio.open_connection("127.0.0.1", self.port)
            self._writers.add(to_there)
            try:
                await asyncio.gather(self._copy(reader, to_there), self._copy(there, writer))
            finally:
                self._writers.discard(to_there)
                to_there.transport.abort()
        except (OSError, asyncio.CancelledError):
            return
        finally:
            self._writers.discard(writer)
            writer.transport.abort()

    def _count(self, passed: int) -> None:
        """Hold up if that was to be after bytes of which these are the last."""
        if self._bytes_left and self._bytes_left > passed:
            self._bytes_left -= passed
        elif self._bytes_left:
            self._hold_up(0)

    async def _copy(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Until one side ends, which ends the other."""
        while data := await reader.read(_CHUNK):
            if self._delay_s:
                await asyncio.sleep(self._delay_s)
            await self._flows.wait()
            writer.write(data)
            self._count(len(data))
            await writer.drain()
        raise ConnectionResetError
