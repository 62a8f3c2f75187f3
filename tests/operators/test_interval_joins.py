"""Joining within a span of time: what leaves is the join of the rows that were in time, it never changes, and nothing is kept for ever."""

from __future__ import annotations

from collections import Counter
from datetime import datetime, timedelta
from random import Random

import pytest

from ouzel.compiler.expressions import Call, Column, Expression
from ouzel.compiler.plan import LEFT_ONLY, PADDED, AsofJoin, IntervalJoin, JoinKind, RowTime
from ouzel.compiler.types import BIGINT, BOOLEAN, TIMESTAMP, VARCHAR
from ouzel.runtime.operators.chain import Streams
from ouzel.runtime.operators.joined import join
from ouzel.runtime.protocol.messages import END_OF_TIME
from tests.effort import seeds
from tests.operators.nodes import table
from tests.operators.tasks import Row, Tasks

CONDITION = Call(BOOLEAN, "lt", (Column(BIGINT, "v"), Column(BIGINT, "w")))
SHAPES: dict[str, tuple[tuple[tuple[str, str], ...], Expression | None, tuple[int, int]]] = {
    "the left is the later": ((("a", "b"),), None, (0, 5)),
    "the left is the earlier, and a condition": ((("a", "b"),), CONDITION, (-7, -2)),
    "either may be the later": ((("a", "b"),), None, (-3, 4)),
    "at the same time": ((("a", "b"), ("t", "u")), None, (0, 0)),
    "without a key": ((), CONDITION, (-2, 2)),
}


def node(kind: JoinKind, shape: str, shift: int = 0) -> IntervalJoin:
    left, right = table(a=VARCHAR, t=TIMESTAMP, v=BIGINT), table(b=VARCHAR, u=TIMESTAMP, w=BIGINT)
    keys, condition, bounds = SHAPES[shape]
    times = (RowTime("t", shift), RowTime("u", shift))
    return IntervalJoin(left, right, kind, keys, condition, times=times, bounds=bounds)


class TimedTasks(Tasks):
    """The tasks of a join by time; `held` are the rows of each side that came in time."""

    def __init__(self, made: IntervalJoin | AsofJoin) -> None:
        self.late, self.passed = 0, -1000
        self.bounded = {"t", "u"} if isinstance(made, IntervalJoin) else {"t"}
        self.held: tuple[list[Row], list[Row]] = ([], [])
        super().__init__(made)

    def come(self, port: int, rows: list[Row]) -> None:
        """Rows of one side come."""
        self.process([(row, 1) for row in rows], port)

    def advance_each(self, port: int, watermarks: list[int]) -> None:
        """Event time of one side has moved."""
        for chain in self.chains:
            self.take(chain.advance_port(port, watermarks[port]))
            self.take(chain.advance(min(watermarks)))
        self.passed = self.chains[0].output_time(min(watermarks))

    def out_of(self, random: Random) -> Counter[Row]:
        """What leaves when rows come, some of them late, watermarks move and tasks come and go. What was in time is `held`."""
        watermarks, late, now = [-100, -100], 0, [random.randint(-20, 20) for _ in range(2)]
        for _ in range(40):
            port = random.randrange(2)
            now[port] += random.choice([0, 1, 2, 9])
            rows = [drawn(random, now[port]) for _ in range(random.randint(1, 6))]
            fresh = [row for row in rows if row[1] is None or micros(row) >= watermarks[port]]  # type: ignore[operator]
            late += len(rows) - len(fresh)
            self.held[port].extend(fresh)
            self.come(port, rows)
            if random.random() < 0.6:
                port = random.randrange(2)
                watermarks[port] = max(watermarks[port], now[port] - random.randint(0, 5))
                self.advance_each(port, watermarks)
            if random.random() < 0.2:
                self.move(random.choice([0, 1, 2, 4]))
        for port in (0, 1):
            watermarks[port] = END_OF_TIME
            self.advance_each(port, watermarks)
        assert self.late + sum(chain.late for chain in self.chains) == late
        return self.out

    def take(self, made: Streams) -> None:
        """Whatever leaves is later than the watermark that has been passed on."""
        for _, frame in made:
            for name in self.bounded & set(frame.columns):
                assert (frame[name].to_physical() > self.passed).fill_null(True).all()
        super().take(made)

    def move(self, count: int) -> None:
        self.late += sum(chain.late for chain in self.chains)
        for operator in (operator for chain in self.chains for operator in chain.operators):
            operator.counters.late = 0
        super().move(count)

    @property
    def kept(self) -> int:
        """How many rows and keys are kept."""
        return sum(part.height for name, part in self.parts if not name.endswith("_us"))


def moment(us: int) -> datetime:
    return datetime(1970, 1, 1) + timedelta(microseconds=us)


def micros(row: Row) -> int | None:
    return None if row[1] is None else (row[1] - moment(0)) // timedelta(microseconds=1)


def joined(made: IntervalJoin, left: list[Row], right: list[Row]) -> Counter[Row]:
    """The join by its definition, pair by pair."""
    met = [
        (one, other) for one in range(len(left)) for other in range(len(right)) if meets(made, left[one], right[other])
    ]
    ones, others = {one for one, _ in met}, {other for _, other in met}
    if made.kind in LEFT_ONLY:
        return Counter(row for place, row in enumerate(left) if (place in ones) == (made.kind is JoinKind.SEMI))
    out = Counter((*left[one], *right[other]) for one, other in met)
    if 1 in PADDED[made.kind]:
        out.update((*row, None, None, None) for place, row in enumerate(left) if place not in ones)
    if 0 in PADDED[made.kind]:
        out.update((None, None, None, *row) for place, row in enumerate(right) if place not in others)
    return out


def meets(made: IntervalJoin, one: Row, other: Row) -> bool:
    times = micros(one), micros(other)
    if None in times or (made.keys and (one[0] is None or one[0] != other[0])):
        return False
    low, high = made.bounds
    fits = low <= times[0] - times[1] <= high  # type: ignore[operator]
    return fits and (made.condition is None or (None not in (one[2], other[2]) and one[2] < other[2]))


def drawn(random: Random, around: int) -> Row:
    time = None if random.random() < 0.1 else around + random.randint(-6, 3)
    at = None if time is None else moment(time)
    return (random.choice(["x", "y", None]), at, random.choice([1, 2, 3, None]))


@pytest.mark.parametrize("kind", JoinKind, ids=lambda kind: kind.name)
def test_what_leaves_is_the_join_of_what_was_in_time(kind: JoinKind, monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in seeds():
        random, made = Random(seed), node(kind, list(SHAPES)[seed % len(SHAPES)])
        monkeypatch.setattr(join, "MOST_PAIRS", random.choice([1, 7, 1 << 19]))
        tasks = TimedTasks(made)
        assert tasks.out_of(random) == joined(made, *tasks.held), f"seed {seed}"
        assert tasks.kept == 0, f"seed {seed}"


def test_an_input_that_holds_time_back_no_more_is_as_far_as_the_other() -> None:
    tasks = TimedTasks(node(JoinKind.LEFT, "the left is the later"))
    at = moment(10)
    tasks.come(0, [("x", at, 1)])
    tasks.chains[0].advance_port(0, 20)
    assert [frame.rows() for _, frame in tasks.chains[0].advance(20)] == [[("x", at, 1, None, None, None)]]
    tasks.come(1, [("x", at, 1)])
    assert tasks.chains[0].late == 1
    assert tasks.kept == 0


def test_a_row_is_forgotten_when_nothing_matches_it_any_more() -> None:
    tasks = TimedTasks(node(JoinKind.INNER, "the left is the later"))
    for time in range(0, 1000, 10):
        at = moment(time)
        for port in (0, 1):
            tasks.come(port, [("x", at, time)])
            tasks.chains[0].advance_port(port, time)
    assert sum(tasks.out.values()) == 100
    assert tasks.kept < 8
