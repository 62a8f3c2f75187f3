"""A node that nobody knew of is carried through rules, fusion and groupings by what it says, and runs or is refused with the reason."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from ouzel.compiler.expressions import Call, Expression, columns_of
from ouzel.compiler.plan import (
    ANY,
    APPENDS,
    BROADCAST,
    UNBOUNDED,
    Binary,
    Changelog,
    Distribution,
    Filter,
    Program,
    RowRole,
    SameColumns,
    Scan,
    by_keys,
    identity_origins,
    walk,
)
from ouzel.compiler.plan.tables import NodeTable, Refused
from ouzel.compiler.types import BIGINT, BOOLEAN, VARCHAR, Schema
from ouzel.errors import NotSupported, PlanError
from ouzel.explain.wording import node_text
from ouzel.planner.build import plan_topology
from ouzel.planner.packing import pack
from ouzel.planner.refused import NOT_IN_TOPOLOGIES, check_nodes
from ouzel.planner.rules import optimise
from ouzel.planner.settings import Settings
from ouzel.planner.topology import Grouping, GroupingKind, Topology
from ouzel.reconcile.comparing.lineage import lineage
from ouzel.runtime.operators.base import Operator
from ouzel.runtime.operators.build import OPERATORS, build_chain
from ouzel.runtime.simulator import simulate
from ouzel.runtime.simulator.engine import start_memory
from ouzel.runtime.simulator.faults import SURVIVABLE
from ouzel.spark.lowering import spark_job
from ouzel.spark.lowering.batch_nodes import BATCH
from ouzel.spark.lowering.streaming import streaming_queries
from ouzel.spark.lowering.streaming_nodes import STREAMING
from tests.planner.plans import greater, program, scan, select

Names = frozenset[str]


@dataclass(frozen=True)
class FirstByKey(SameColumns):
    """Of the rows of each key, the one that came first."""

    key: str

    def needs(self, wanted: Names) -> tuple[Names, ...]:
        return (wanted | {self.key},)

    def passes(self, predicate: Expression) -> tuple[Expression | None, ...] | None:
        return (predicate,) if columns_of(predicate) == {self.key} else None

    role = RowRole.KEEPS
    is_rowwise = False
    meets_other_rows = ""
    closes_windows = False
    drops_late = False
    calls_python = False
    waits = (False,)
    accepts = (APPENDS,)
    changelog = Changelog.APPEND
    state_bound = f"{UNBOUNDED}: one key per key"

    @property
    def distribution(self) -> tuple[Distribution, ...]:
        return (by_keys((self.key,), ANY),)

    @property
    def unique_keys(self) -> frozenset[Names]:
        return frozenset({frozenset({self.key})})

    @property
    def component_name(self) -> str:
        return f"first_by_{self.key}"

    @property
    def label(self) -> str:
        return f"FirstByKey {self.key}"

    @property
    def identity(self) -> tuple[object, ...]:
        return (self.input.column_ids[self.key],)


@dataclass
class FirstRows(Operator):
    """Its operator."""

    key: str
    stateful = True
    seen: set[object] = field(default_factory=set)

    def process(self, frame: pl.DataFrame, port: int = 0) -> pl.DataFrame | None:
        first = frame.unique(self.key, keep="first", maintain_order=True)
        new = first.filter(~pl.col(self.key).is_in(list(self.seen)))
        self.seen.update(new[self.key])
        return new


@dataclass
class KnownRows(Operator):
    """The operator of Known: rows of the left wait until their key comes."""

    key: str
    stateful = True
    keys: set[object] = field(default_factory=set)
    waiting: list[pl.DataFrame] = field(default_factory=list)

    def process(self, frame: pl.DataFrame, port: int = 0) -> pl.DataFrame | None:
        if port == 0:
            self.waiting.append(frame)
        else:
            self.keys.update(frame[self.key])
        rows = pl.concat(self.waiting) if self.waiting else None
        if rows is None:
            return None
        known = pl.col(self.key).is_in(list(self.keys))
        self.waiting = [rows.filter(~known)]
        return rows.filter(known)


@dataclass(frozen=True)
class Known(Binary):
    """The rows of the left whose key is in the right, which every task has."""

    key: str

    @property
    def schema(self) -> Schema:
        return self.left.schema

    @property
    def origins(self) -> Mapping[str, tuple[int, str]]:
        return identity_origins(self)

    def definition(self, column: str) -> tuple[object, ...]:
        raise KeyError(column)

    def needs(self, wanted: Names) -> tuple[Names, ...]:
        return (wanted | {self.key}, frozenset({self.key}))

    def passes(self, predicate: Expression) -> tuple[Expression | None, ...] | None:
        return (predicate, predicate if columns_of(predicate) == {self.key} else None)

    is_rowwise = False
    meets_other_rows = "Known"
    joins_rows = False
    closes_windows = False
    drops_late = False
    calls_python = False
    waits = (False, False)
    accepts = (APPENDS, APPENDS)
    changelog = Changelog.APPEND
    state_bound = f"{UNBOUNDED}: both inputs"
    distribution = (ANY, BROADCAST)
    unique_keys: frozenset[Names] = frozenset()
    component_name = "known"
    label = "Known"

    @property
    def time_column(self) -> str | None:
        return self.left.time_column

    @property
    def identity(self) -> tuple[object, ...]:
        return tuple(node.column_ids[self.key] for node in self.inputs)


@pytest.fixture(autouse=True)
def backends(monkeypatch: pytest.MonkeyPatch) -> None:
    entries: tuple[tuple[NodeTable[Any], object, object], ...] = (
        (OPERATORS, lambda node, _seed: FirstRows(node.key), lambda node, _seed: KnownRows(node.key)),
        (BATCH, Refused("nobody knows which row of a table is the first"), Refused("it is a toy", "write a join")),
        (STREAMING, Refused("nobody knows which row of a table is the first"), Refused("it is a toy", "write a join")),
    )
    for table, first, known in entries:
        monkeypatch.setitem(table.entries, FirstByKey, first)
        monkeypatch.setitem(table.entries, Known, known)


def table(name: str = "t") -> Scan:
    return scan(name, k=BIGINT, v=BIGINT, unused=VARCHAR)


def first() -> Program:
    node = FirstByKey(table(), "k")
    both = Call(BOOLEAN, "and", (greater(node, "k", 1), greater(node, "v", 10)))
    return program(select(Filter(node, both), "v"))


def known() -> Program:
    node = Known(table(), table("u"), "k")
    return program(select(Filter(node, greater(node, "k", 1)), "v"))


def planned(asked: Program) -> Topology:
    return plan_topology(asked, Settings(parallelism=2), "toy", frozenset({"file"}))


def scans(asked: Program) -> Iterator[tuple[str, tuple[str, ...], str]]:
    for node in walk(optimise(asked, frozenset({"file"})).sinks[0]):
        if isinstance(node, Scan):
            yield node.table, node.schema.names, str(node.predicate)


def test_columns_are_pruned_and_filters_moved_as_it_says() -> None:
    assert list(scans(first())) == [("t", ("k", "v"), "gt(k, 1)")]
    kept = [node for node in walk(optimise(first()).sinks[0]) if isinstance(node, Filter)]
    assert [str(node.predicate) for node in kept] == ["gt(v, 10)", "gt(k, 1)"], "the filter on v sees first rows only"
    assert list(scans(known())) == [("t", ("k", "v"), "gt(k, 1)"), ("u", ("k",), "gt(k, 1)")]


def test_it_is_given_the_rows_that_it_needs_together() -> None:
    made = planned(first())
    assert [part.name for part in made.components] == ["t", "first_by_k", "result"]
    assert made.component("first_by_k").inputs[0].grouping == Grouping(GroupingKind.FIELDS, ("k",))


def test_each_input_has_its_grouping_and_its_port() -> None:
    links = planned(known()).component("known").inputs
    assert [(link.component, link.grouping.kind, link.port) for link in links] == [
        ("t", GroupingKind.LOCAL_OR_SHUFFLE, 0),
        ("u", GroupingKind.ALL, 1),
    ]


def test_one_stream_as_both_inputs_is_read_by_two_ways() -> None:
    node = table()
    links = planned(program(Known(node, node, "k"))).component("known").inputs
    assert len({(link.component, link.stream) for link in links}) == 2


def test_explain_and_ids_know_it() -> None:
    assert node_text(FirstByKey(table(), "k")) == ("FirstByKey", "k")
    assert FirstByKey(table(), "k").stable_id != FirstByKey(table(), "v").stable_id
    assert lineage(first().sinks[0]).keys == ()


def test_it_runs_in_memory(tmp_path: Path) -> None:
    rows = pl.DataFrame({"k": [1, 2, 2, 3, 3, 4], "v": [90, 11, 12, 5, 50, 40], "unused": list("abcdef")})
    rows.write_parquet(tmp_path / "t.parquet")
    made = planned(first())
    with start_memory(made, pack(made), tmp_path) as run:
        assert sorted(row["v"] for row in run) == [11, 40]


@pytest.mark.parametrize("seed", range(20))
def test_what_comes_by_each_input_stays_apart(tmp_path: Path, seed: int) -> None:
    keys = [1, 2, 3, 5, 8]
    pl.DataFrame({"k": range(1_000), "v": [key * 10 for key in range(1_000)]}).write_parquet(tmp_path / "t.parquet")
    pl.DataFrame({"k": keys, "v": [0] * len(keys)}).write_parquet(tmp_path / "u.parquet")
    made = planned(known())
    check_nodes(made)
    run = simulate(made, pack(made), tmp_path, seed=seed, faults=SURVIVABLE)
    assert sorted(pl.concat(run.frames.values())["v"]) == [20, 30, 50, 80], f"seed {seed}, faults: {run.faults}"


def test_every_engine_that_cannot_run_it_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    why = "nobody knows which row of a table is the first"
    with pytest.raises(NotSupported, match=f"the PySpark job cannot take FirstByKey: {why}"):
        spark_job(first(), Path("."), "toy")
    (query,) = streaming_queries(first(), Path("."), "toy")
    assert "in_state(" in query.text, "Spark's streams run the topology's operator, for they have none"
    monkeypatch.setitem(NOT_IN_TOPOLOGIES, Known, Refused("it is a toy"))
    with pytest.raises(NotSupported, match="a topology cannot take Known: it is a toy"):
        check_nodes(planned(known()))


def test_an_engine_that_has_never_heard_of_it_does_not_guess(monkeypatch: pytest.MonkeyPatch) -> None:
    for one in (OPERATORS, BATCH):
        monkeypatch.delitem(one.entries, FirstByKey)
    with pytest.raises(PlanError, match="a topology has no entry for FirstByKey"):
        build_chain([FirstByKey(table(), "k")], Settings())
    with pytest.raises(PlanError, match="the PySpark job has no entry for FirstByKey"):
        spark_job(first(), Path("."), "toy")
