"""How a process waits for a state manager that is away: it shows life meanwhile, and goes on as soon as that answers."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from threading import Thread
from typing import TypeVar

from ouzel.errors import StateError
from ouzel.runtime.checkpoints.objects import StoreAway
from ouzel.runtime.cluster.state import StateManager, open_state
from ouzel.runtime.process.job import RunDescription
from ouzel.runtime.process.life import Life
from ouzel.runtime.protocol.cluster.leadership import Deposed

T = TypeVar("T")

_AGAIN_S = 0.5


def keep_alive(life: Life, beat_s: float, work: Callable[[], T]) -> T:
    """What `work` gives, which may wait for long: this process shows life meanwhile."""
    done: list[T] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            done.append(work())
        except BaseException as error:
            failed.append(error)

    thread = Thread(target=run, name="waits", daemon=True)
    thread.start()
    while thread.is_alive():
        life.beat()
        thread.join(beat_s)
    if failed:
        raise failed[0]
    return done[0]


def when_it_answers(work: Callable[[], T], what: str, sleep: Callable[[float], object] = time.sleep) -> T:
    """What `work` gives as soon as the state manager answers; why it does not is said once.

    Raises:
        Deposed: it answers that another topology master leads.
        StateError: a folder of epochs answers that it is another topology's.
    """
    return _patiently(work, what, Exception, sleep)


def when_reachable(work: Callable[[], T], what: str) -> T:
    """What `work` gives, or raises, as soon as the store of epochs answers; why it does not is said once."""
    return _patiently(work, what, StoreAway, time.sleep)


def _patiently(work: Callable[[], T], what: str, passing: type[Exception], sleep: Callable[[float], object]) -> T:
    told = ""
    while True:
        try:
            return work()
        except (Deposed, StateError):
            raise
        except passing as error:  # of the disk, or of a client of the state manager or the store
            if str(error) != told:
                told = str(error)
                print(f"{what} is tried again: {error}", file=sys.stderr)
            sleep(_AGAIN_S)


def await_state(job: RunDescription) -> StateManager:
    """A connection to the state manager, which was there when the topology was started, as soon as it is there again."""
    return when_it_answers(lambda: open_state(job.topology.settings.state_manager, job.home), "the state manager")
