"""Other numbers of tasks: every class of nodes says by what its state is found again, and what it says is so; what is refused says why."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from ouzel.compiler.plan import Sink
from ouzel.compiler.plan.tables import node_classes
from ouzel.errors import SubmissionError
from ouzel.planner.build import plan_topology
from ouzel.planner.packing import pack, repack
from ouzel.planner.rescaling import KEY_GROUPS, SCALING, Scaling, with_parallelism
from ouzel.planner.settings import Delivery, Settings
from ouzel.planner.topology import Component, GroupingKind, Topology
from ouzel.runtime.operators.build import build_chain
from ouzel.runtime.state import hashing
from ouzel.session import connector_traits, load
from tests.law.cases import CASES, Case, compiled

EPOCHS = Settings(checkpoint_interval_ms=1000)
WORDS = "CREATE TABLE words (word VARCHAR, n BIGINT) WITH ('connector' = 'datagen', 'rate' = '5'{more});"
COUNT = "SELECT word, COUNT(*) AS n FROM words GROUP BY word EMIT CHANGES;"


def planned(tmp_path: Path, query: str, settings: Settings = EPOCHS, more: str = ", 'partitions' = '4'") -> Topology:
    """The topology of a query over words."""
    file = tmp_path / "q.sql"
    file.write_text(WORDS.format(more=more) + query)
    job = load(file)
    return plan_topology(job.program, settings, "q")


def tasks_of(topology: Topology) -> dict[str, int]:
    """How many tasks each component has."""
    return {component.name: component.parallelism for component in topology.components}


def test_every_class_of_nodes_has_an_entry() -> None:
    missing = [
        kind.__name__
        for kind in node_classes()
        if kind.__module__.startswith("ouzel.compiler.plan.") and kind not in SCALING.entries
    ]
    assert not missing, f"say in SCALING by what the state of {missing} is found again, or why it cannot be"


@cache
def components_of(case: Case) -> tuple[Component, ...]:
    """The components of a case, with three tasks where there may be."""
    filters = frozenset(name for name, one in connector_traits(Path()).items() if one.filters)
    return plan_topology(compiled(case), replace(EPOCHS, parallelism=3), case.name, filters).components


@pytest.mark.parametrize("case", CASES, ids=str)
def test_what_a_node_says_is_what_its_operator_keeps(case: Case) -> None:
    """A state goes by the hash of those columns by which the rows come: else its key groups would be in other tasks than its rows."""
    for component in components_of(case):
        operators = build_chain(component.chain, EPOCHS, (), component.outputs).operators
        for node, operator in zip(component.chain, operators, strict=True):
            scaling = SCALING[type(node)]
            assert (operator.state is not None) == (scaling is Scaling.KEY_GROUPS), node.label
            assert operator.stateful == (scaling in (Scaling.KEY_GROUPS, Scaling.FLUSHED)), node.label
            if operator.state is not None and component.parallelism > 1:
                assert node is component.chain[0], f"{node.label}: its rows come by what stands before it"
                groupings = {link.grouping for link in component.inputs}
                assert {grouping.kind for grouping in groupings} == {GroupingKind.FIELDS}
                number = {len(grouping.fields) for grouping in groupings}
                assert number == {len(operator.state._routing)}, node.label
                if len(groupings) == 1:
                    assert groupings.pop().fields == operator.state._routing


def test_there_are_as_many_key_groups_as_are_told() -> None:
    assert KEY_GROUPS == hashing.KEY_GROUPS


def test_a_sink_that_may_write_in_parts_stays_and_one_that_may_not_goes_apart(tmp_path: Path) -> None:
    sink = (
        "CREATE TABLE counts (word VARCHAR, n BIGINT, PRIMARY KEY (word) NOT ENFORCED) WITH ('connector' = 'blackhole');"
        f"INSERT INTO counts {COUNT}"
    )
    together = planned(tmp_path, sink)
    assert tasks_of(together) == {"words": 1, "count_by_word": 1}
    assert tasks_of(with_parallelism(together, {"count_by_word": 4})) == {"words": 1, "count_by_word": 4}
    result = with_parallelism(planned(tmp_path, COUNT), {"count_by_word": 4})
    assert tasks_of(result) == {"words": 1, "count_by_word": 4, "result": 1}
    apart = result.component("result")
    assert isinstance(apart.chain[0], Sink)
    assert [str(link.grouping) for link in apart.inputs] == ["global"]
    assert result.component("count_by_word").outputs[0].retracts
    assert tasks_of(with_parallelism(result, {"count_by_word": 1})) == {"words": 1, "count_by_word": 1, "result": 1}


def test_a_sink_that_gets_several_tasks_is_sent_the_changes_of_a_key_to_one_of_them(tmp_path: Path) -> None:
    sink = (
        "CREATE TABLE counts (word VARCHAR, n BIGINT, PRIMARY KEY (word) NOT ENFORCED) WITH ('connector' = 'blackhole');"
        "INSERT INTO counts SELECT /*+ PARALLELISM('counts'='1', 'count_by_word'='2') */ word, COUNT(*) AS n FROM words "
        "GROUP BY word EMIT CHANGES;"
    )
    apart = planned(tmp_path, sink)
    assert tasks_of(apart) == {"words": 1, "count_by_word": 2, "counts": 1}
    (link,) = with_parallelism(apart, {"counts": 3}).component("counts").inputs
    assert str(link.grouping) == "fields(word)"


REFUSED = {
    "there is no such component": (COUNT, {"count_by_wrod": 2}, "no component 'count_by_wrod'; did you mean 'count_by_word'?"),
    "no task": (COUNT, {"count_by_word": 0}, "--parallelism count_by_word=0 leaves no task; write 1 or more"),
    "too many": (COUNT, {"count_by_word": 1025}, "keys are dealt to tasks in 1024 groups"),
    "nothing changes": (COUNT, {"count_by_word": 1}, "'count_by_word' has 1 task already, so nothing changes"),
    "one row": ("SELECT COUNT(*) AS n FROM words EMIT CHANGES;", {"count_all": 2}, "all its rows belong together, and one task keeps them"),
    "one order": (
        "SELECT word, SUM(n) OVER (ORDER BY word) AS s FROM words;", None, "all its rows belong together, and one task keeps them",
    ),
    "one writer": (
        "SELECT /*+ PARALLELISM('result'='1') */ word, n FROM words;", {"result": 2}, r"table 'result' \(result\) is written by one task",
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
def test_what_cannot_have_so_many_tasks_says_why(what: str, tmp_path: Path) -> None:
    query, wanted, reason = REFUSED[what]
    topology = planned(tmp_path, query)
    with pytest.raises(SubmissionError, match=reason) as refused:
        with_parallelism(topology, wanted or {topology.components[1].name: 2})
    assert "\n" not in str(refused.value)


def test_a_source_whose_partitions_are_one_a_task_stays_as_it_is(tmp_path: Path) -> None:
    with pytest.raises(SubmissionError, match="do not say how many 'partitions' there are"):
        with_parallelism(planned(tmp_path, COUNT, more=""), {"words": 2})
    assert tasks_of(with_parallelism(planned(tmp_path, COUNT), {"words": 2}))["words"] == 2


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        (Settings(checkpoint_interval_ms=0), "its 'checkpoint.interval.ms' is 0; submit it again without that"),
        (Settings(checkpoint_interval_ms=0, delivery=Delivery.AT_MOST_ONCE), "promises nothing of what is on its way"),
    ],
)
def test_a_topology_without_epochs_is_refused_with_the_reason(tmp_path: Path, settings: Settings, why: str) -> None:
    with pytest.raises(SubmissionError, match="keeps no epochs that an update could go on from") as refused:
        with_parallelism(planned(tmp_path, COUNT, settings), {"count_by_word": 2})
    assert why in str(refused.value)


def test_what_stays_is_not_moved_and_a_container_left_empty_goes(tmp_path: Path) -> None:
    settings = replace(EPOCHS, parallelism=5)
    topology = planned(tmp_path, COUNT, settings, ", 'partitions' = '8'")
    packing = pack(topology)
    assert len(packing.containers) == 2
    places = {(task.component, task.index): one.id for one in packing.containers for task in one.tasks}
    more = with_parallelism(topology, {"count_by_word": 12})
    grown = repack(more, packing)
    assert len(grown.containers) == 3
    held = {(task.component, task.index): one.id for one in grown.containers for task in one.tasks}
    assert {key: held[key] for key in places} == places
    assert sorted(task.id for one in grown.containers for task in one.tasks) == [task.id for task in more.tasks()]
    less = with_parallelism(more, {"count_by_word": 1, "words": 1})
    shrunk = repack(less, grown)
    assert len(shrunk.containers) < 3
    assert all(held[task.component, task.index] == one.id for one in shrunk.containers for task in one.tasks)
