"""The watch of `ouzel alerts`: looks, tells, and remembers what was told, so that it goes on where it was killed."""

from __future__ import annotations

import contextlib
import json
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path

from ouzel.errors import OuzelError
from ouzel.files import put_bytes
from ouzel.tracker.alerts.conditions import TopologyFacts
from ouzel.tracker.alerts.machine import AlertMachine, AlertNotice, RuleStanding
from ouzel.tracker.alerts.rules import AlertFile, Receiver

STATE = "alerts.json"
WAITING_MAX = 1_000
"""So many notices wait for receivers that are away; the oldest are dropped."""

SendNotice = Callable[[AlertNotice, str, Receiver], None]
Errand = tuple[AlertNotice, str]
"""A notice, and the receiver that is to be told."""


class AlertWatch:
    """Tells each receiver what it is to be told. A receiver that is away is told later, each notice in turn.

    Args:
        file: the rules.
        home: OUZEL_HOME, where it is remembered what was told.
        send: tells a receiver; raises OuzelError if it was not told.
        waiting_max: so many notices wait for receivers that are away.
    """

    def __init__(self, file: AlertFile, home: Path, send: SendNotice, waiting_max: int = WAITING_MAX) -> None:
        self._file, self._path, self._send = file, home / STATE, send
        standing, waiting = self._load()
        self._machine = AlertMachine(file.rules, file.muted, standing)
        self._waiting: deque[Errand] = deque(waiting, waiting_max)

    def look(self, facts: Mapping[str, TopologyFacts | None], now_s: float) -> list[str]:
        """Tell what is to be told now; what was told, and what could not be, a line each."""
        notices = self._machine.look(facts, now_s)
        self._waiting.extend((notice, name) for notice in notices for name in notice.receivers)
        self._store()  # before anything is sent: after a death it may be told twice, and is never lost
        before = len(self._waiting)
        said = [notice.text for notice in notices] + list(self._send_waiting())
        if len(self._waiting) != before:
            self._store()
        return said

    def _send_waiting(self) -> Iterator[str]:
        away: set[str] = set()
        for _ in range(len(self._waiting)):
            notice, name = self._waiting.popleft()
            try:
                if name not in away and name in self._file.receivers:
                    self._send(notice, name, self._file.receivers[name])
                    continue
            except OuzelError as error:
                yield str(error)
                away.add(name)
            if name in self._file.receivers:
                self._waiting.append((notice, name))

    def _load(self) -> tuple[dict[tuple[str, str], RuleStanding], list[Errand]]:
        """What was remembered. A file that cannot be read is as none: what holds is told again."""
        with contextlib.suppress(OSError, ValueError, TypeError, KeyError):
            kept = json.loads(self._path.read_text())
            standing = {(rule, topology): RuleStanding(**rest) for rule, topology, rest in kept["standing"]}
            return standing, [(_notice(fields), name) for fields, name in kept["waiting"]]
        return {}, []

    def _store(self) -> None:
        standing = [(*key, asdict(value)) for key, value in self._machine.standing.items()]
        waiting = [(asdict(notice), name) for notice, name in self._waiting]
        with contextlib.suppress(OSError):  # a full disk is no reason to tell nobody
            put_bytes(self._path, json.dumps({"standing": standing, "waiting": waiting}).encode())


def _notice(fields: dict[str, object]) -> AlertNotice:
    return AlertNotice(**{**fields, "receivers": tuple(fields["receivers"])})  # type: ignore[arg-type]  # as asdict made it
