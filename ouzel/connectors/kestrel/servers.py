"""Which servers have a queue: those that WITH lists, or a file that is looked at again and again while the topology runs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ouzel.connectors.kestrel.assignment import GONE, assign_in_order, hosts_of
from ouzel.errors import ConnectorError

FILE = "file:"
"""What stands before the path, where servers are not listed."""

LOOK_AGAIN_S = 2.0
"""So often a file is looked at."""

_COMMENT = re.compile("#.*")
_SEPARATOR = re.compile(r"[,\s]+")


@dataclass(frozen=True)
class Share:
    """The hosts that one task reads; of those that are `watched` it tells how much waits there, others tell that of the rest.

    Unless it `is_known` the file that says which hosts there are has not been readable so far.
    """

    hosts: Sequence[str]
    watched: frozenset[str]
    is_known: bool = True


class Servers:
    """The servers of a queue as they were last seen, in the order in which they are written; `problem` is why a file cannot be used now.

    A file that has changed counts when it has been seen so twice, for whoever writes it may be in the middle. What cannot be used changes
    nothing.
    """

    def __init__(self, written: str, directory: Path) -> None:
        self._path = directory / written.removeprefix(FILE).strip() if written.startswith(FILE) else None
        self.listed = [] if self._path else split(written)
        self.problem = ""
        self._seen = self.listed

    @property
    def hosts(self) -> list[str]:
        """Those that are read and written."""
        return [name for name in self.listed if not name.startswith(GONE)]

    @property
    def may_change(self) -> bool:
        """Whether to look again."""
        return self._path is not None

    def look(self) -> None:
        """See which there are now."""
        if self._path is None:
            return
        try:
            seen = _read(self._path)
        except ConnectorError as error:
            self.problem = str(error)
            return
        if seen == self._seen or not self.listed:
            self.listed = seen
        self._seen, self.problem = seen, ""

    def share(self, task: int, tasks: int) -> Share:
        """What one task reads."""
        readers = assign_in_order(self.listed, tasks)
        hosts = hosts_of(readers, task)
        return Share(hosts, frozenset(host for host in hosts if min(readers[host]) == task), bool(self.listed))


def split(written: str) -> list[str]:
    """The servers of a list, each once."""
    return list(dict.fromkeys(filter(None, _SEPARATOR.split(written))))


def is_address(name: str) -> bool:
    """Whether this is host:port."""
    host, _, port = name.rpartition(":")
    return bool(host) and not host.startswith(GONE) and port.isdecimal() and 0 < int(port) < 1 << 16


def _read(path: Path) -> list[str]:
    try:
        listed = split(_COMMENT.sub("", path.read_text()))
    except (OSError, ValueError) as error:
        raise ConnectorError(f"the list of Kestrel's servers cannot be read: {path}: {error}") from error
    wrong = next((name for name in listed if not is_address(name.removeprefix(GONE))), None)
    if wrong is not None:
        raise ConnectorError(f"{path} cannot hold '{wrong}'; write host:22133, each server on a line of its own")
    if len({name.removeprefix(GONE) for name in listed}) < len(listed):
        raise ConnectorError(f"{path} names a server both with and without a '{GONE}'; keep one of the two lines")
    if all(name.startswith(GONE) for name in listed):
        raise ConnectorError(f"{path} names no server; write host:22133, each server on a line of its own")
    return listed
