"""Joining as of a time: each row that was in time meets the latest version of its key, said once; of old versions only the last is kept."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from ouzel.compiler.plan import AsofJoin, JoinKind
from ouzel.compiler.types import BIGINT, TIMESTAMP, VARCHAR
from tests.effort import seeds
from tests.operators.nodes import table
from tests.operators.tasks import Row
from tests.operators.test_interval_joins import TimedTasks, micros, moment


def node(kind: JoinKind, before: bool = False, keyed: bool = True) -> AsofJoin:
    left, right = table(a=VARCHAR, t=TIMESTAMP, v=BIGINT), table(b=VARCHAR, u=TIMESTAMP, w=BIGINT)
    return AsofJoin(left, right, kind, (("a", "b"),) if keyed else (), times=("t", "u"), before=before)


def latest(made: AsofJoin, row: Row, versions: list[Row]) -> Row | None:
    """The version by its definition."""
    time = micros(row)
    if time is None or (made.keys and row[0] is None):
        return None
    limit = time - made.before
    known = [each for each in versions if not made.keys or each[0] == row[0]]
    past = [(at, each) for each in known if (at := micros(each)) is not None and at <= limit]
    return (
        max(past, key=lambda pair: (pair[0], pair[1][0] or "", pair[1][2] or 0))[1] if past else None
    )  # no key is "", no value 0


@pytest.mark.parametrize("before", [False, True], ids=["by then", "before"])
@pytest.mark.parametrize("kind", [JoinKind.INNER, JoinKind.LEFT], ids=lambda kind: kind.name)
def test_each_row_meets_the_latest_version(kind: JoinKind, before: bool) -> None:
    for seed in seeds():
        made = node(kind, before, keyed=seed % 3 > 0)
        tasks = TimedTasks(made)
        out = tasks.out_of(Random(seed))
        rows, versions = tasks.held
        pairs = [(row, latest(made, row, versions)) for row in rows]
        gap = (None,) * 3
        expected = Counter((*row, *(found or gap)) for row, found in pairs if found or kind is JoinKind.LEFT)
        assert out == expected, f"seed {seed}"


def test_of_old_versions_only_the_last_of_each_key_is_kept() -> None:
    tasks = TimedTasks(node(JoinKind.LEFT))
    for time in range(0, 1000, 10):
        tasks.come(1, [(key, moment(time), time) for key in "xyz"])
        tasks.come(0, [("x", moment(time), time)])
        for port in (0, 1):
            tasks.advance_each(port, [time + 1, time + 1])
    assert tasks.out == Counter({("x", moment(time), time, "x", moment(time), time): 1 for time in range(0, 1000, 10)})
    assert tasks.kept == 6, "a version of each key, and the key"
