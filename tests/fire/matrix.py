"""Strike each process of a topology with every kind of operator, by each signal, in each mode of delivery, and note what was seen.

    python -m tests.fire.matrix                     all, into the table in docs/delivery.md
    python -m tests.fire.matrix join sink all       these only; the others stay in the table as they are
    python -m tests.fire.matrix --mode effectively-once --dry join

After each strike the topology is paused, and rows, their sums and which of them there are is compared with what its sources have read.
"""

from __future__ import annotations

import argparse
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import chain, pairwise
from pathlib import Path

from ouzel.errors import OuzelError
from ouzel.runtime.protocol.cluster.submitted import Condition
from ouzel.runtime.run import RunState
from tests.fire import fault_table
from tests.fire.fault_table import FURTHER, MODES, SIGNALS, SINGLE, Sighting, load, merged, write
from tests.fire.run_strikes import strike_run
from tests.fire.whole import EPOCH_MS, HANG_MS, NAME, REST_S, WATCHED, Whole, send
from tests.servers.waiting import is_reached, wait_until

DISK = "48m"
EPOCHS, ROWS = 2, {"windows": 70}
"""So many come before a strike counts as overcome; of other tables OTHER_ROWS."""

OTHER_ROWS, LIMIT_S, VISIBLE_S = 500, 600.0, 60.0

STOPPED_EPOCHS = 4 * HANG_MS // EPOCH_MS
"""Nobody watches some of those who are stopped: so many epochs come meanwhile."""

TOGETHER = {
    "aggregate+topology-master": ("aggregate", "topology-master"),
    "join+stream-manager": ("join", "2/stream-manager"),
}
ENDS_ALL = ("server", "all")
"""Whose death ends all processes, so that the topology has to be started again."""


class Strike:
    """One strike against a topology, and what is seen of it."""

    def __init__(self, whole: Whole, who: str, number: str) -> None:
        self.whole, self.who, self.number = whole, who, signal.Signals[number]
        self.table = WATCHED.get(who.partition("+")[0], "passed")
        self.before, self.after = whole.events(), ""
        self.twice = sum(table.twice for table in whole.tables.values())
        self._front, self._came, self._replaced = 0, list[float](), dict[str, int]()

    def see(self) -> Sighting:
        """Strike, wait until the topology goes on, have it rest, and compare.

        Raises:
            AssertionError: it does not go on.
        """
        self.look()
        self._came = [time.monotonic()]
        self._strike()
        epoch, rows = self.whole.epoch + EPOCHS, self._front + ROWS.get(self.table, OTHER_ROWS)
        self._wait(lambda: self.whole.epoch >= epoch and self._front >= rows, "epochs and new rows")
        stood_s = max(later - sooner for sooner, later in pairwise(self._came))
        wait_until(self._are_replaced, LIMIT_S, look_s=0.1)
        wrong = self._compare()
        told = self.whole.told_since(self.before)
        twice = sum(table.twice for table in self.whole.tables.values()) - self.twice
        return Sighting(
            self.who, self.number.name, self.whole.delivery, wrong, twice, told, self.after, round(stood_s, 1)
        )

    def look(self) -> None:
        """Note the time if rows have come that were never there."""
        front = self.whole.look(self.table)
        if front > self._front:
            self._front = front
            self._came.append(time.monotonic())

    def _wait(self, reached: Callable[[], bool], what: str) -> None:
        def look() -> bool:
            self.look()
            return reached()

        wait_until(look, LIMIT_S, told=lambda: (what, self.whole.condition, self.whole.handle.status()))

    def _strike(self) -> None:
        if self.who == "disk":
            self._fill()
        elif self.who in ENDS_ALL and self.number is signal.SIGKILL:
            everyone = self.whole.processes()
            send(self.number, *(everyone.values() if self.who == "all" else [everyone["server"]]))
            self.whole.start_again()
            self.before, self.after = Counter(), "`ouzel start`"  # the events are those of the new start
        elif self.who in ("server", "follower"):
            self._strike_unwatched()
        else:
            self._kill(self._victims())

    def _victims(self) -> list[str]:
        if self.who == "tasks":
            return [one for one in self.whole.processes() if one.endswith("]")]
        return [one if "/" in one else self.whole.find(one) for one in TOGETHER.get(self.who, (self.who,))]

    def _kill(self, victims: Sequence[str]) -> None:
        """Send the signal; whoever is stopped is killed by those who miss him, and a successor comes for each."""
        before = self.whole.processes()
        send(self.number, *(before[one] for one in victims))
        self._wait(lambda: not any(Path(f"/proc/{before[one]}").exists() for one in victims), f"the end of {victims}")
        self._replaced = {one: before[one] for one in victims}

    def _are_replaced(self) -> bool:
        now = self.whole.processes()
        return all(now.get(one, pid) != pid for one, pid in self._replaced.items())

    def _strike_unwatched(self) -> None:
        """Who is killed or stopped here is missed by nobody; who is stopped goes on afterwards."""
        with self._unwatched() as pid:
            send(self.number, pid)
            goal = self.whole.epoch + STOPPED_EPOCHS
            self._wait(lambda: self.whole.epoch >= goal, "epochs")
            if self.number is signal.SIGSTOP:
                send(signal.SIGCONT, pid)

    @contextmanager
    def _unwatched(self) -> Iterator[int]:
        if self.who == "server":
            yield self.whole.processes()["server"]
            return
        command = [sys.executable, "-m", "ouzel", "results", NAME, "--follow", "--format", "changelog"]
        read = self.whole.root / "followed.txt"
        with read.open("wb") as file, subprocess.Popen(command, stdout=file, stderr=subprocess.DEVNULL) as client:
            try:
                self._wait(lambda: read.stat().st_size > 0 or client.poll() is not None, "a result")
                assert client.poll() is None, "the client ended"
                yield client.pid
            finally:
                client.kill()

    def _fill(self) -> None:
        """Leave no byte where epochs are written, kill a task meanwhile, and make room again."""
        filler = self.whole.store.folder.parent / "filler"
        with filler.open("wb", buffering=0) as file:
            for size in (1 << 16, 1):
                with suppress(OSError):
                    while file.write(b"x" * size):
                        pass
        self._wait(lambda: self._tells("epoch-failed"), "failed epochs")
        self._kill([self.whole.find("aggregate")])
        self._wait(lambda: self._tells("rolled-back"), "roll back")
        filler.unlink()

    def _tells(self, kind: str) -> bool:
        return kind in self.whole.told_since(self.before)

    def _compare(self) -> str:
        """What is wrong once it rests."""
        status = self.whole.handle.pause(REST_S)
        assert status.state is RunState.PAUSED, status
        is_reached(lambda: not self.whole.problems(status), VISIBLE_S)  # each task publishes its epoch for itself
        wrong = self.whole.problems(status)
        self.whole.handle.resume()
        return wrong


@contextmanager
def small_disk() -> Iterator[tuple[Path, bool]]:
    """A folder on a small file system, and whether it is one: only root may mount it."""
    with tempfile.TemporaryDirectory(prefix="oz") as name:
        mount = ["mount", "-t", "tmpfs", "-o", f"size={DISK}", "tmpfs", name]
        mounted = not subprocess.run(mount, capture_output=True, check=False).returncode
        try:
            yield Path(name), mounted
        finally:
            if mounted:
                subprocess.run(["umount", "-l", name], check=True)


def strike_submitted(mode: str, asked: Sequence[tuple[str, str]]) -> Iterator[Sighting]:
    """Strike a submitted topology in turn. One that does not go on is left, and another one is submitted for those that follow."""
    left = list(asked)
    while left:
        with tempfile.TemporaryDirectory(prefix="oz") as root, small_disk() as (disk, mounted):
            left = [pair for pair in left if pair[0] != "disk" or mounted]
            whole = Whole(Path(root), mode, disk / "epochs")
            try:
                yield from _strike_in_turn(whole, left)
            finally:
                whole.remove()


def _strike_in_turn(whole: Whole, left: list[tuple[str, str]]) -> Iterator[Sighting]:
    wait_until(lambda: whole.epoch >= EPOCHS, LIMIT_S, told=whole.handle.status)
    while left:
        who, number = left.pop(0)
        try:
            yield Strike(whole, who, number).see()
        except (AssertionError, OuzelError) as error:
            print(error, file=sys.stderr)
            yield Sighting(who, number, whole.delivery, f"does not go on: {str(error)[:200]}", 0, (), "", None)
            return
    yield from _at_the_end(whole)


def _at_the_end(whole: Whole) -> Iterator[Sighting]:
    """Stop it: all that was read is in the tables; a sighting if it is not."""
    status, mode = whole.handle.stop(), whole.delivery
    whole.delivery = MODES[0]  # nothing is put aside any more
    if (wrong := whole.problems(status)) or whole.condition is not Condition.STOPPED:
        yield Sighting("all", "SIGKILL", mode, f"after the end: {wrong or status.reason}", 0, (), "", None)


def main() -> int:
    """Strike as was asked; how often something was wrong."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # what was submitted is removed in any case
    asked = _arguments()
    wanted = [*SINGLE, *FURTHER] if not asked.who else asked.who
    seen = list[Sighting]()
    for mode in asked.mode or MODES:
        pairs = [pair for pair in fault_table.ROWS if pair[0] in wanted and pair[1] in (asked.signal or SIGNALS)]
        pairs.sort(key=lambda pair: SIGNALS.index(pair[1]))  # who dies twice within ten seconds is started again later
        runs = [pair for pair in pairs if pair[0].startswith("run-")]
        strikes = [pair for pair in pairs if pair not in runs]
        for one in chain(strike_submitted(mode, strikes), (strike_run(mode, *pair) for pair in runs)):
            seen.append(one)
            print(f"{one.mode:16} {one.who:26} {one.signal:8} {' | '.join(one.cells)}", flush=True)
            if not asked.dry:
                write(merged(load(), seen))
    return sum(bool(one.wrong) for one in seen)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.fire.matrix", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "who", nargs="*", choices=[[], *SINGLE, *FURTHER], metavar="WHO", help=f"of {', '.join(SINGLE | FURTHER)}"
    )
    parser.add_argument("--mode", action="append", choices=MODES, help="this mode only")
    parser.add_argument("--signal", action="append", choices=SIGNALS, help="this signal only")
    parser.add_argument("--dry", action="store_true", help="write nothing")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(min(main(), 100))
