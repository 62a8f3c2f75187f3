"""What a run has noticed that is likely a mistake of the program: said as a warning, each thing once."""

from __future__ import annotations

import warnings
from collections.abc import Iterable

from ouzel.callers import users_level
from ouzel.compiler.catalog import QueryWarning
from ouzel.runtime.protocol.messages import ADVICE, Event


class Advice:
    """Warns of what is new among a run's events."""

    def __init__(self) -> None:
        self._told = set[str]()

    def tell(self, events: Iterable[Event]) -> None:
        """Warn, at the user's line that has come here."""
        for event in events:
            if event.kind == ADVICE and event.text not in self._told:
                self._told.add(event.text)
                warnings.warn(event.text, QueryWarning, stacklevel=users_level())
