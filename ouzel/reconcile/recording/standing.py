"""A record that does not change while it is compared, even of a live run: by a snapshot of closed windows, else by a pause."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from ouzel.compiler.plan import Sink
from ouzel.errors import TopologyError
from ouzel.reconcile.recording.live import is_live, paused, snapshot
from ouzel.reconcile.recording.marks import describe_edit
from ouzel.reconcile.recording.record import LATE, RECORD, RESULTS, SHED, read_record

Say = Callable[[str], None]

LOOKS = 20
"""So often record and results are looked at that do not belong together."""


@dataclass(frozen=True)
class Standing:
    """A directory with a record that nothing changes; `live` if the run goes on."""

    home: Path
    live: bool


@contextmanager
def standing(home: Path, sink: Sink, closed_only: bool, say: Say = lambda text: None) -> Iterator[Standing]:
    """The record of the run in `home`, as it stands now.

    A run that goes on is not disturbed if only closed windows are wanted. Else it is paused until its record is written, or, if its answer
    is in files, until it has been compared; it is resumed whatever happens.

    Raises:
        TopologyError: the run cannot be asked, or does not come to rest.
    """
    with ExitStack() as stack:
        yield _ask(home, sink, closed_only, stack, say) or Standing(home, False)


def _ask(home: Path, sink: Sink, closed_only: bool, stack: ExitStack, say: Say) -> Standing | None:
    """A live run's answer; None if there is no live run, or it ended meanwhile."""
    if not is_live(home):
        return None
    pause = stack.enter_context(ExitStack())
    try:
        if closed_only:
            snapshot(home)
        else:
            say("pausing the run")
            pause.callback(say, "the run goes on")
            pause.enter_context(paused(home))
    except TopologyError:
        pause.pop_all()
        if is_live(home):
            raise
        return None
    copy = stack.enter_context(_copy(home))
    if sink.traits.returned:  # its table is in the copy
        pause.close()
    return Standing(copy, True)


def _link_answer(home: Path, copy: Path) -> None:
    """Link record and results of one moment: somebody else may have the run replace them meanwhile, the results first.

    Results that somebody has edited fit no record; whoever compares them says so.
    """
    for _ in range(LOOKS):
        for name in (RESULTS, RECORD):
            (copy / name).unlink(missing_ok=True)
            if (home / name).exists():
                os.link(home / name, copy / name)
        mark = read_record(copy).answer.get(RESULTS)
        if mark is None or not describe_edit(str(copy / RESULTS), mark):
            return


@contextmanager
def _copy(home: Path) -> Iterator[Path]:
    """A consistent copy of the record's files: record and results are replaced when written, what was late or shed is appended to."""
    copy = Path(tempfile.mkdtemp(prefix=".compared-", dir=home))
    try:
        _link_answer(home, copy)
        for name in (LATE, SHED):
            if (home / name).exists():
                shutil.copyfile(home / name, copy / name)
        yield copy
    finally:
        shutil.rmtree(copy, ignore_errors=True)
