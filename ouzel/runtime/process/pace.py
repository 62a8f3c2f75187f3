"""How often a process says how it stands: often in its first moments, when somebody waits for a first answer, then five times a second."""

from __future__ import annotations

import time
from collections.abc import Callable

FIRST_S, LATER_S = 0.02, 0.2
"""Between two reports, at first and later."""
SHARE = 0.1
"""What is said is older than so much of the age of the process only once that is LATER_S."""


class Pace:
    """Counts from when it is made."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._began = clock, clock()

    @property
    def interval_s(self) -> float:
        """How long to wait until the next report."""
        return min(LATER_S, max(FIRST_S, SHARE * (self._clock() - self._began)))
