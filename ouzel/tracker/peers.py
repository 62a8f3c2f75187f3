"""Whose a connection on this machine is: the kernel knows which user owns the socket at its other end.

Without a token everyone with an account may look; but only who could type the commands himself may change anything.
"""

from __future__ import annotations

import socket
import struct
from pathlib import Path

Address = tuple[str, int]

_LOCAL, _REMOTE, _UID = 1, 2, 7
"""Columns of the kernel's tables of TCP sockets: see proc(5)."""


def find_peer_user(client: Address, server: Address) -> int | None:
    """The user who owns the client's end of a connection; None if that end is not on this machine, or gone."""
    table = Path("/proc/net/tcp6" if ":" in client[0] else "/proc/net/tcp")
    try:
        wanted = [_spell(client), _spell(server)]
        for line in table.read_text().splitlines()[1:]:
            fields = line.split()
            if [fields[_LOCAL], fields[_REMOTE]] == wanted:
                return int(fields[_UID])
    except (OSError, ValueError, IndexError):
        return None
    return None


def _spell(address: Address) -> str:
    """An address as these tables have it: each word of it in the machine's order of bytes."""
    host, port = address
    packed = socket.inet_pton(socket.AF_INET6 if ":" in host else socket.AF_INET, host)
    words = struct.unpack(f"={len(packed) // 4}I", packed)
    return f"{''.join(f'{word:08X}' for word in words)}:{port:04X}"
