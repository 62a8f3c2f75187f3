"""Which servers of pages run over an OUZEL_HOME, and where: a command that starts a topology says where its page is.

Needs none of the packages that pages need, for commands ask it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from urllib.parse import quote

from ouzel.runtime.cluster.state.local import LocalState

_SERVERS = "/ui"


@contextmanager
def announce(home: Path, address: str) -> Iterator[None]:
    """Inside, and while this process lives, it is known that the pages of an OUZEL_HOME are at this address, which ends with a slash."""
    with closing(LocalState(home / "state")) as state:
        path = f"{_SERVERS}/{os.getpid()}"
        with suppress(OSError):  # pages can be read without it, of a folder, too, in which nothing can be written
            state.hold(path, address.encode())
        yield
        with suppress(OSError):
            state.delete(path)


def find_page(home: Path, name: str) -> str:
    """The address of a topology's page, at one of the servers that run; empty if none does."""
    with closing(LocalState(home / "state")) as state:
        for server in state.children(_SERVERS):
            if (address := state.get(f"{_SERVERS}/{server}")) is not None:
                return f"{address.decode()}topology/{quote(name, safe='')}"
    return ""
