"""SideJoining: rows of a stream, and of one that takes rows back, with a table that the task has read whole."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from random import Random

import polars as pl
import pytest

from ouzel.compiler.plan import SIDE_KINDS, WEIGHT, JoinKind, SideJoin
from ouzel.compiler.types import BIGINT, VARCHAR
from ouzel.errors import ConnectorError
from ouzel.planner.topology import Topology
from ouzel.runtime.operators.joined import join
from ouzel.runtime.operators.joined.side_join import SideJoining
from ouzel.runtime.tasks.context import TaskContext
from ouzel.runtime.tasks.factory import make_task
from ouzel.session import load_text, mark_sides
from tests.effort import seeds
from tests.operators.nodes import chain, table
from tests.operators.tasks import Row
from tests.operators.test_joins import SHAPES, drawn, joined

KINDS = sorted(SIDE_KINDS, key=lambda kind: kind.name)

QUERY = """
CREATE TABLE flights (id BIGINT, origin VARCHAR)
WITH ('connector' = 'file', 'path' = 'flights.csv', 'format' = 'csv', 'csv.header' = 'true');
CREATE TABLE airports (code VARCHAR, size BIGINT)
WITH ('connector' = 'file', 'path' = 'airports*.csv', 'format' = 'csv', 'csv.header' = 'true');
SELECT /*+ BROADCAST(a) */ id, big FROM flights AS f
JOIN (SELECT code, 100 / size AS big FROM airports WHERE size < 9 UNION ALL SELECT 'XXX', 0) AS a ON f.origin = a.code;
"""


def node(kind: JoinKind, shape: str, retracts: bool) -> SideJoin:
    left = table(retracts, a=VARCHAR, k=BIGINT, v=BIGINT)
    return SideJoin(left, table(b=VARCHAR, j=BIGINT, w=BIGINT), kind, *SHAPES[shape])


def frame(names: str, rows: Iterable[tuple[Row, int]], weighted: bool) -> pl.DataFrame:
    listed = [(*row, weight) for row, weight in rows]
    schema = {name: pl.String if number == 0 else pl.Int64 for number, name in enumerate(names)} | {WEIGHT: pl.Int64}
    made = pl.DataFrame(listed, schema, orient="row")
    return made if weighted else made.drop(WEIGHT)


@pytest.mark.parametrize("retracts", [False, True], ids=["appends", "retracts"])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_what_leaves_is_the_join_with_the_whole_table(
    kind: JoinKind, shape: str, retracts: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for seed in seeds():
        random, made = Random(seed), node(kind, shape, retracts)
        monkeypatch.setattr(join, "MOST_PAIRS", random.choice([1, 7, 1 << 19]))
        whole = [row for _ in range(random.randrange(6)) for row, _ in drawn(random, Counter())]
        tasks, held, out = chain(made), Counter[Row](), Counter[Row]()
        side = tasks.operators[0]
        assert isinstance(side, SideJoining)
        side.load([frame("bjw", [(row, 1) for row in whole[at::3]], False) for at in range(3)])
        for batch in range(12):
            rows = list(drawn(random, +held if retracts else Counter()))
            if batch == 11:
                rows = [(row, -times) for row, times in held.items() if times < 0]
            for row, weight in rows:
                held[row] += weight
            out.update(changes(tasks.process(frame("akv", rows, retracts)), retracts))
        assert +out == joined(made, +held, Counter(whole)), f"seed {seed}"
        assert not -out, f"seed {seed}: rows were taken back that had not been told"
        assert not tasks.stateful
        assert not tasks.states


def changes(made: pl.DataFrame | None, weighted: bool) -> Counter[Row]:
    """What a frame adds up to."""
    found = Counter[Row]()
    for row in () if made is None else made.iter_rows():
        found[row[:-1] if weighted else row] += row[-1] if weighted else 1
    return found


class Asked:
    """A table that is asked, with a clock that stands."""

    expires_ms = 100.0

    def __init__(self, rows: int) -> None:
        self.rows, self.now, self.asked = rows, 1.0, list[list[str]]()
        self.table = {"x": 1, "y": 2}

    def now_ms(self) -> float:
        return self.now

    def ask(self, keys: pl.Series) -> Iterable[pl.DataFrame]:
        names = sorted(keys.to_list())
        self.asked.append(names)
        found = [(name, self.table[name], 0) for name in names if name in self.table]
        yield pl.DataFrame(found, {"b": pl.String, "j": pl.Int64, "w": pl.Int64}, orient="row")


def asking(answers: Asked) -> Callable[..., set[Row]]:
    made = SideJoin(table(a=VARCHAR, k=BIGINT, v=BIGINT), node(JoinKind.LEFT, "by two keys", False).right, JoinKind.LEFT,
                    (("a", "b"),), asked=True)  # fmt: skip
    tasks = chain(made)
    side = tasks.operators[0]
    assert isinstance(side, SideJoining)
    side.ask_of(answers)

    def ask(*names: str | None) -> set[Row]:
        rows = tasks.process(frame("akv", [((name, 0, 0), 1) for name in names], False))
        return {(row[0], row[4]) for row in rows.iter_rows()}

    return ask


def test_a_table_is_asked_once_for_each_key_of_a_batch_that_is_not_remembered() -> None:
    answers = Asked(rows=3)
    ask = asking(answers)
    assert ask("x", "z", None, "x") == {("x", 1), ("z", None), (None, None)}
    answers.table["x"] = 9
    assert ask("x", "y", "z") == {("x", 1), ("y", 2), ("z", None)}, "that there is no row is remembered too"
    assert answers.asked == [["x", "z"], ["y"]]
    answers.now += answers.expires_ms
    assert ask("x") == {("x", 9)}
    del answers.table["x"]
    assert ask("x", "w") == {("x", 9), ("w", None)}, "the oldest had to go: there are three"
    assert answers.asked[2:] == [["x"], ["w"]]
    answers.now += answers.expires_ms
    assert ask("x", "y") == {("x", None), ("y", 2)}


def test_what_is_not_to_be_remembered_is_asked_for_again() -> None:
    answers = Asked(rows=0)
    ask = asking(answers)
    for value in (1, 5):
        answers.table["x"] = value
        assert ask("x", "x") == {("x", value)}
    assert answers.asked == [["x"], ["x"]]


def start(directory: Path) -> Topology:
    (directory / "flights.csv").write_text("id,origin\n1,JFK\n2,LGA\n3,XXX\n")
    return mark_sides(load_text(QUERY, directory, "sides")).topology


def test_a_task_that_starts_again_refuses_a_table_that_has_changed_meanwhile(tmp_path: Path) -> None:
    airports = tmp_path / "airports.csv"
    airports.write_text("code,size\nJFK,4\nLGA,5\n")
    topology = start(tmp_path)
    (task,) = (task for task in topology.tasks() if task.component == "flights")
    for incarnation in (0, 1):
        make_task(task, TaskContext(topology, tmp_path, incarnation=incarnation))
    for name, text in (("airports.csv", "code,size\nJFK,5\nLGA,5\n"), ("airports2.csv", "code,size\n")):
        (tmp_path / name).write_text(text)
        with pytest.raises(ConnectorError, match=rf"table 'airports' is not what it was when the run began: .*{name}"):
            make_task(task, TaskContext(topology, tmp_path, incarnation=2))
        (tmp_path / name).unlink()
        airports.write_text("code,size\nJFK,4\nLGA,5\n")
    make_task(task, TaskContext(topology, tmp_path, incarnation=3))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("code,size\nJFK,0\n", "a row of table 'airports' cannot be computed: .*zero"),
        ("code,size\nJFK,x\n", "table 'airports': .*size"),
    ],
    ids=["computed", "read"],
)
def test_a_row_of_the_table_that_cannot_be_had_ends_the_run_with_the_reason(
    tmp_path: Path, text: str, why: str
) -> None:
    (tmp_path / "airports.csv").write_text(text)
    topology = start(tmp_path)
    with pytest.raises(ConnectorError, match=why):
        make_task(topology.tasks()[0], TaskContext(topology, tmp_path))
