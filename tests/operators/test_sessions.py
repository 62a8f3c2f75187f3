"""Sessions: whatever comes in whatever order, what leaves adds up to the sessions of the rows that were not dropped as late."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from random import Random

import polars as pl
import pytest

from ouzel.compiler.plan import AssignSession
from ouzel.compiler.types import BIGINT, TIMESTAMP, VARCHAR
from ouzel.runtime.operators.chain import Streams
from ouzel.runtime.protocol.messages import END_OF_TIME
from tests.effort import seeds
from tests.operators.nodes import table
from tests.operators.tasks import Row, Tasks

GAP = 10


def node(changes: bool, retracting: bool = True, keys: tuple[str, ...] = ("k",)) -> AssignSession:
    return AssignSession(table(retracting, k=VARCHAR, at=TIMESTAMP, v=BIGINT), keys, "at", GAP, changes)


class Sessions(Tasks):
    """The tasks of one operator; rows as (k, at, v), at in microseconds; `late` are those that it dropped."""

    def __init__(self, made: AssignSession) -> None:
        self.late = Counter[Row]()
        super().__init__(made)

    def process(self, rows: Iterable[tuple[Row, int]], port: int = 0) -> None:
        super().process(rows, port)
        for operator in (operator for chain in self.chains for operator in chain.operators):
            for late in operator.late_frames:
                self.late.update(late.select("k", pl.col("at").to_physical(), "v").rows())
            operator.late_frames.clear()

    def take(self, made: Streams) -> None:
        times = pl.col("at", "window_start", "window_end").to_physical()
        super().take([(stream, frame.with_columns(times).drop("window_time")) for stream, frame in made])


def sessions(rows: Counter[Row]) -> Counter[Row]:
    """Each row with the session it is in, row by row."""
    out = Counter[Row]()
    for key in {row[0] for row in rows}:
        mine = sorted((row for row in rows if row[0] == key), key=lambda row: row[1])
        begin = 0
        for place, row in enumerate(mine):
            if place + 1 == len(mine) or mine[place + 1][1] - row[1] > GAP:
                for each in mine[begin : place + 1]:
                    out[(*each, mine[begin][1], row[1] + GAP)] += rows[each]
                begin = place + 1
    return out


@pytest.mark.parametrize("retracting", [False, True], ids=["rows", "changes in"])
@pytest.mark.parametrize("changes", [False, True], ids=["at the end", "at once"])
def test_what_leaves_adds_up_to_the_sessions_of_what_was_in_time(changes: bool, retracting: bool) -> None:
    dropped = 0
    for seed in seeds():
        random, tasks, held, now = Random(seed), Sessions(node(changes)), Counter[Row](), 0
        for _ in range(40):
            rows: list[tuple[Row, int]] = []
            for _ in range(random.randint(1, 5)):
                known = [row for row in held if held[row] > 0 and row[1] + GAP > now and (row, 1) not in rows]
                if retracting and known and random.random() < 0.3:
                    rows.append((random.choice(known), -1))
                    held[rows[-1][0]] -= 1
                    continue
                row = (random.choice(["x", "y", None]), now + random.randint(-15, 40), random.randint(1, 2))
                rows.append((row, 1))
                held[row] += 1
            tasks.process(rows)
            for row, times in tasks.late.items():
                held[row] -= times
            dropped += tasks.late.total()
            tasks.late.clear()
            if random.random() < 0.5:
                now += random.randint(0, 25)
                tasks.advance(now)
            if random.random() < 0.2:
                tasks.move(random.choice([0, 1, 2, 4]))
        tasks.advance(END_OF_TIME)
        assert +tasks.out == sessions(+held), f"seed {seed}"
        assert not -tasks.out, f"seed {seed}: rows were taken back that had not been told"
        assert all(part.is_empty() for name, part in tasks.parts if name != "time_us"), (
            f"seed {seed}: something is kept for ever"
        )
    assert dropped, "no row was late: the test tests nothing"


def told(*steps: tuple[str, int] | int) -> list[tuple[Row, int]]:
    """What is told of rows ("k", at) and watermarks, one after the other, with the number of the step that told it."""
    tasks, out = Sessions(node(False)), list[tuple[Row, int]]()
    for number, step in enumerate(steps):
        before = tasks.out.copy()
        if isinstance(step, int):
            tasks.advance(step)
        else:
            tasks.process([((*step, 1), 1)])
        out += [(row[1:2] + row[3:], number) for row in tasks.out - before]
    return out


def test_a_row_just_at_the_end_goes_on_with_the_session_and_one_later_begins_another() -> None:
    found = told(("x", 0), 9, ("x", 10), ("x", 21), 19, 20, 31)
    assert found == [((0, 0, 20), 5), ((10, 0, 20), 5), ((21, 21, 31), 6)]


def test_a_row_between_two_sessions_makes_them_one() -> None:
    assert told(("x", 0), ("x", 18), 9, ("x", 9), 28) == [((0, 0, 28), 4), ((9, 0, 28), 4), ((18, 0, 28), 4)]


def test_a_row_of_a_session_that_has_ended_is_late_though_its_own_time_is_not_over() -> None:
    tasks = Sessions(node(False))
    tasks.process([(("x", 0, 1), 1)])
    tasks.advance(10)
    tasks.process([(("x", 5, 1), 1), (("x", 11, 1), 1), (("y", 5, 1), 1)])
    assert tasks.late == Counter({("x", 5, 1): 1})
    tasks.advance(END_OF_TIME)
    assert tasks.out == Counter({("x", 0, 1, 0, 10): 1, ("x", 11, 1, 11, 21): 1, ("y", 5, 1, 5, 15): 1})
