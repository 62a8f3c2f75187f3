"""The watch of `ouzel alerts`: looks, tells, and remembers what was told, so that it goes on where it was killed."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from ouzel.errors import OuzelError
from ouzel.tracker.alerts.conditions import TopologyFacts
from ouzel.tracker.alerts.machine import AlertMachine, AlertNotice
from ouzel.tracker.alerts.memory_file import FILE, AlertMemory, Errand, describe_lost_alerts, load_alerts, store_alerts
from ouzel.tracker.alerts.rules import AlertFile, Receiver
from ouzel.tracker.asides import set_aside

WAITING_MAX = 1_000
"""So many notices wait for receivers that are away; the oldest are dropped."""

SendNotice = Callable[[AlertNotice, str, Receiver], None]


class AlertWatch:
    """Tells each receiver what it is to be told. A receiver that is away is told later, each notice in turn.

    Args:
        file: the rules.
        home: OUZEL_HOME, where it is remembered what was told.
        send: tells a receiver; raises OuzelError if it was not told.
        waiting_max: so many notices wait for receivers that are away.

    Raises:
        OuzelError: what was told before cannot be read now.
    """

    def __init__(self, file: AlertFile, home: Path, send: SendNotice, waiting_max: int = WAITING_MAX) -> None:
        self._file, self._path, self._send = file, home / FILE, send
        self._news, self._problem = list[str](), ""
        memory = self._load()
        self._machine = AlertMachine(file.rules, file.muted, dict(memory.standing))
        self._waiting: deque[Errand] = deque(memory.waiting, waiting_max)

    def look(self, facts: Mapping[str, TopologyFacts | None], now_s: float) -> list[str]:
        """Tell what is to be told now; what was told, and what could not be, a line each."""
        notices = self._machine.look(facts, now_s)
        self._waiting.extend((notice, name) for notice in notices for name in notice.receivers)
        self._store()  # before anything is sent: after a death it may be told twice, and is never lost
        before = len(self._waiting)
        said = [notice.text for notice in notices] + list(self._send_waiting())
        if len(self._waiting) != before:
            self._store()
        news, self._news = self._news, []
        return news + said

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

    def _load(self) -> AlertMemory:
        """What was remembered. A damaged file is set aside before another is written; that is told."""
        try:
            return load_alerts(self._path)
        except ValueError as error:
            self._news.append(f"{describe_lost_alerts(set_aside(self._path))} ({error})")
            return AlertMemory({}, ())

    def _store(self) -> None:
        """A full disk is no reason to tell nobody. It is said once, until it can be kept again."""
        problem = ""
        try:
            store_alerts(self._path, self._machine.standing, self._waiting)
        except OSError as error:
            problem = (
                f"what was told cannot be kept in {self._path}: {error.strerror}; after a new start it is told again"
            )
        if problem and problem != self._problem:
            self._news.append(problem)
        self._problem = problem
