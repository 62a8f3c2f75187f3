"""Components, their names, inputs, groupings and hints."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from ouzel.compiler.plan import (
    Aggregate,
    AssignSession,
    EmitRule,
    Filter,
    FinalAggregate,
    Gather,
    Hints,
    PartialAggregate,
    Program,
    Project,
    Scan,
    Sink,
    SinkMode,
    Union,
    Unnest,
)  # fmt: skip
from ouzel.compiler.types import BIGINT, INT, TIMESTAMP, VARCHAR
from ouzel.errors import QueryError
from ouzel.planner.build import plan_topology
from ouzel.planner.settings import Settings
from ouzel.planner.topology import DEFAULT_STREAM, Input, Topology
from tests.planner.plans import (
    column,
    count_by,
    days,
    delays_by_day,
    flights,
    greater,
    program,
    scan,
    select,
    sink,
    word_count,
    words,
)  # fmt: skip


def plan(made: Program, **settings: object) -> Topology:
    return plan_topology(made, Settings(**settings), "test", frozenset())  # type: ignore[arg-type]


def shape(topology: Topology) -> dict[str, list[str]]:
    """Component -> its inputs as `source grouping`, with the stream if it is not the default one."""
    return {part.name: [f"{source(link)} {link.grouping}" for link in part.inputs] for part in topology.components}


def source(link: Input) -> str:
    return link.component if link.stream == DEFAULT_STREAM else f"{link.component}/{link.stream}"


def kinds(topology: Topology, name: str) -> list[type]:
    return [type(node) for node in topology.component(name).chain]


def test_word_count_is_a_spout_a_fields_grouping_and_a_sink() -> None:
    topology = plan(program(word_count()), parallelism=2)
    assert shape(topology) == {
        "lines": [],
        "count_by_word": ["lines fields(word)"],
        "result": ["count_by_word global"],
    }
    assert kinds(topology, "lines") == [Scan, Unnest, Project]
    assert kinds(topology, "count_by_word") == [Aggregate]
    assert kinds(topology, "result") == [Sink]


def test_outputs_say_schema_and_whether_rows_are_taken_back() -> None:
    topology = plan(program(word_count()), parallelism=2)
    lines, counts, result = topology.components
    assert (lines.outputs[0].schema.names, lines.outputs[0].retracts) == (("word",), False)
    assert (counts.outputs[0].schema.names, counts.outputs[0].retracts) == (("word", "n"), True)
    assert result.outputs == ()


def test_a_windowed_aggregate_is_combined_in_the_spout() -> None:
    topology = plan(program(delays_by_day()))
    assert kinds(topology, "flights")[-1] is PartialAggregate
    assert kinds(topology, "aggregate_by_origin") == [FinalAggregate, Sink]
    assert shape(topology)["aggregate_by_origin"] == ["flights fields(origin)"]


def test_a_window_alone_is_dealt_by_its_end() -> None:
    windowed = count_by(days(flights()), rule=EmitRule.WATERMARK, windowed=True)
    topology = plan(program(windowed), parallelism=2)
    assert shape(topology)["count_by_window"] == ["flights fields(window_end)"]


def test_an_aggregate_without_keys_is_one_task() -> None:
    topology = plan(program(count_by(words())), parallelism=4)
    assert shape(topology)["count_all"] == ["lines global"]
    assert [part.parallelism for part in topology.components] == [4, 1]
    assert kinds(topology, "count_all") == [FinalAggregate, Sink]


def test_a_shared_view_is_one_component_read_by_several() -> None:
    view = words()
    topology = plan(program(sink(count_by(view, "word"), "counts"), sink(view, "all_words")))
    assert shape(topology) == {
        "lines": [],
        "count_by_word": ["lines fields(word)"],
        "all_words": ["lines global"],
    }


def test_what_readers_of_a_shared_node_do_without_moving_rows_is_done_before_anything_is_sent() -> None:
    table = scan("t", a=INT, b=INT)
    kept = Filter(table, greater(table, "a", 10))
    topology = plan(program(sink(select(kept, x=column(kept, "b")), "one"), sink(table, "two")))
    assert shape(topology) == {"t": [], "one": ["t/project_1 global"], "two": ["t/scan_1 global"]}
    assert kinds(topology, "t") == [Scan, Filter, Project]
    outputs = topology.component("t").outputs
    assert [(output.stream, output.place) for output in outputs] == [("scan_1", 0), ("project_1", 2)]
    assert [output.schema.names for output in outputs] == [("a", "b"), ("x",)]


def test_branches_of_branches() -> None:
    table = scan("t", a=INT, b=INT)
    kept = Filter(table, greater(table, "a", 10))
    both = [select(kept, x=column(kept, name)) for name in ("a", "b")]
    topology = plan(program(*(sink(node, f"s{number}") for number, node in enumerate((*both, table)))))
    assert shape(topology) == {
        "t": [], "s0": ["t/project_1 global"], "s1": ["t/project_2 global"], "s2": ["t/scan_1 global"],
    }  # fmt: skip


def test_windows_over_one_stream_are_each_combined_in_the_spout() -> None:
    watched = flights()
    both = [delays_by_day(watched), count_by(days(watched), "origin", rule=EmitRule.WATERMARK, windowed=True)]
    topology = plan(program(*(sink(node, f"s{number}") for number, node in enumerate(both))))
    assert kinds(topology, "flights").count(PartialAggregate) == 2
    assert [len(part.outputs) for part in topology.components if part.is_spout] == [2]


def test_a_union_is_several_inputs() -> None:
    left, right = scan("a", word=VARCHAR), scan("b", token=VARCHAR)
    topology = plan(program(count_by(Union((left, right)), "word")))
    assert shape(topology)["count_by_word"] == ["a fields(word)", "b fields(word)"]
    assert {part.outputs[0].schema.names for part in topology.components[:2]} == {("word",)}


def test_a_projection_above_a_union_fuses_with_each_branch() -> None:
    union = Union((scan("a", word=VARCHAR, x=INT), scan("b", word=VARCHAR, x=INT)))
    topology = plan(program(select(union, w=column(union, "word"))))
    assert shape(topology)["result"] == ["a global", "b global"]
    assert kinds(topology, "a") == [Scan, Project]


def test_a_stream_united_with_itself_is_read_by_two_ways() -> None:
    table = scan("t", word=VARCHAR)
    topology = plan(program(count_by(Union((table, table)), "word")))
    assert shape(topology) == {"t": [], "count_by_word": ["t/scan_1 fields(word)", "t/project_1 fields(word)"]}


def test_two_scans_of_one_table_have_names_of_their_own() -> None:
    topology = plan(program(Union((scan("t", a=INT), scan("t", a=INT)))))
    assert [part.name for part in topology.components] == ["t", "t_2", "result"]


def test_a_sink_named_as_a_source() -> None:
    parts = plan(program(twice_if_again(sink(scan("t", a=INT), "t")))).components
    assert [part.name for part in parts] == ["t", "sink_t"]


def twice_if_again(kept: Sink) -> Sink:
    """The sink of a connector that writes again what comes again."""
    return replace(kept, traits=replace(kept.traits, once=False))


def test_a_sink_that_writes_nothing_twice_stays_with_the_spout() -> None:
    kept = sink(scan("t", a=INT), "kept")
    assert [part.name for part in plan(program(kept)).components] == ["t"]
    assert [part.name for part in plan(program(twice_if_again(kept))).components] == ["t", "kept"]
    two = scan("t", a=INT)
    assert [part.name for part in plan(program(sink(two, "kept"), sink(two, "beside"))).components] == [
        "t",
        "kept",
        "beside",
    ]


def test_every_reader_comes_after_what_it_reads() -> None:
    topology = plan(program(sink(word_count(), "one"), sink(delays_by_day(), "two")))
    seen: set[str] = set()
    for part in topology.components:
        assert {link.component for link in part.inputs} <= seen
        seen.add(part.name)


def hinted(made: Program, *grouping: tuple[str, str], **parallelism: int) -> Program:
    return replace(made, hints=Hints(tuple(parallelism.items()), grouping))


def test_parallelism_comes_from_hints_and_settings() -> None:
    topology = plan(hinted(program(word_count()), lines=3, result=2), parallelism=4)
    assert [part.parallelism for part in topology.components] == [3, 4, 2]


def test_a_parallel_sink_of_changes_gets_each_key_in_one_task() -> None:
    upsert = sink(word_count(), "counts", SinkMode.UPSERT, ("word",))
    assert shape(plan(hinted(program(upsert), counts=2)))["counts"] == ["count_by_word fields(word)"]
    assert shape(plan(hinted(program(word_count()), result=2)))["result"] == ["count_by_word fields(word, n)"]
    assert shape(plan(hinted(program(words()), result=2)))["result"] == ["lines local-or-shuffle"]


def test_partial_key_grouping_puts_a_combiner_between() -> None:
    topology = plan(hinted(program(word_count()), ("lines", "partial-key")), parallelism=2)
    assert shape(topology) == {
        "lines": [],
        "combine_by_word": ["lines partial-key(word)"],
        "count_by_word": ["combine_by_word fields(word)"],
        "result": ["count_by_word global"],
    }


@pytest.mark.parametrize("kind", ["shuffle", "none", "global", "local"])
def test_a_stateless_reader_may_be_dealt_as_one_likes(kind: str) -> None:
    table = scan("t", a=INT)
    made = hinted(program(sink(table, "y")), ("y", kind))
    assert shape(plan(made, parallelism=2))["y"][0].startswith(f"t {kind}")


@pytest.mark.parametrize(
    ("grouping", "message"),
    [
        (
            ("lines", "shuffle"),
            "would break 'count_by_word': rows of one key would go to different tasks; write 'fields'",
        ),
        (("lines", "all"), "every task would get every row"),
        (("lines", "custom"), "only a bolt of the topology API can choose tasks itself"),
        (("result", "fields"), "it groups by no key"),
        (("lines", "fielsd"), "there is no such grouping; write shuffle, fields"),
        (
            ("line", "fields"),
            "GROUPING('line'='fields') speaks of no table or component of this query; did you mean 'lines'?",
        ),
    ],
)
def test_a_hint_that_would_break_the_answer_is_refused(grouping: tuple[str, str], message: str) -> None:
    with pytest.raises(QueryError, match=re.escape(message)):
        plan(hinted(program(word_count()), grouping))


def test_partial_key_needs_results_that_merge() -> None:
    distinct = word_count()
    distinct = replace(distinct, calls=(replace(distinct.calls[0], argument="word", distinct=True),))
    with pytest.raises(QueryError, match="whose partial results can be merged"):
        plan(hinted(program(distinct), ("lines", "partial-key")))


def test_parallelism_hints_that_cannot_be_followed() -> None:
    with pytest.raises(QueryError, match="leaves no task; write 1 or more"):
        plan(hinted(program(word_count()), lines=0))
    with pytest.raises(QueryError, match="an aggregate without GROUP BY is one row"):
        plan(hinted(program(count_by(words())), count_all=2))
    with pytest.raises(QueryError, match=r"only in one task; leave the hint out$"):
        plan(hinted(program(Gather(words(), 1_000)), gather=2))
    sessions = AssignSession(scan("t", ts=TIMESTAMP), (), "ts", 1_000_000, False)
    with pytest.raises(QueryError, match=r"are all in one task; leave the hint out, or partition them by a key$"):
        plan(hinted(program(sessions), session=2))


def test_the_name_of_a_query_is_a_setting() -> None:
    assert plan(program(words())).name == "test"
    assert plan(program(words()), query_name="mine").name == "mine"


def test_a_union_of_changes_and_rows_retracts() -> None:
    counts = word_count()
    rows = scan("t", word=VARCHAR, n=BIGINT)
    made = program(count_by(Union((counts, rows)), "word", total="n"))
    topology = plan(made, parallelism=2)
    flags = {part.name: part.outputs[0].retracts for part in topology.components if part.outputs}
    assert flags == {"lines": False, "count_by_word": True, "t": False, "aggregate_by_word": True}


def test_filters_stay_with_what_they_read() -> None:
    table = scan("t", a=INT)
    topology = plan(program(Filter(table, greater(table, "a", 1))))
    assert kinds(topology, "t") == [Scan, Filter]


def test_a_sink_stays_in_the_tasks_that_make_its_rows() -> None:
    topology = plan(program(sink(word_count(), "counts")), parallelism=2)
    assert [part.name for part in topology.components] == ["lines", "count_by_word"]
    assert kinds(topology, "count_by_word") == [Aggregate, Sink]
    assert topology.component("count_by_word").outputs == ()


def test_an_upsert_sink_stays_only_where_its_keys_are_together() -> None:
    counts = word_count()
    renamed = select(counts, "n", token=column(counts, "word"))
    together = sink(renamed, "together", SinkMode.UPSERT, ("token",))
    assert kinds(plan(program(together)), "count_by_word") == [Aggregate, Project, Sink]
    by_count = sink(renamed, "by_count", SinkMode.UPSERT, ("n",))
    assert shape(plan(program(by_count), parallelism=2))["by_count"] == ["count_by_word global"]


@pytest.mark.parametrize("mode", [SinkMode.RETRACT, SinkMode.UPSERT])
def test_any_sink_stays_in_the_only_task_that_makes_its_rows(mode: SinkMode) -> None:
    result = program(word_count())
    written = program(sink(word_count(), "by_count", mode, ("n",) if mode is SinkMode.UPSERT else ()))
    for made in (result, written, hinted(result, lines=3)):
        assert kinds(plan(made), "count_by_word") == [Aggregate, Sink]
        assert plan(made).components[-1].outputs == ()
    assert kinds(plan(hinted(result, count_by_word=1), parallelism=2), "count_by_word") == [Aggregate, Sink]


def test_a_result_whose_rows_several_tasks_make_is_a_component() -> None:
    result = program(word_count())
    apart = {"lines": [], "count_by_word": ["lines fields(word)"], "result": ["count_by_word global"]}
    assert shape(plan(result, parallelism=2)) == shape(plan(hinted(result, count_by_word=2))) == apart


def test_a_sink_that_is_hinted_or_not_alone_with_its_rows_is_a_component() -> None:
    apart = {"lines": [], "count_by_word": ["lines fields(word)"], "result": ["count_by_word global"]}
    result, counts = program(word_count()), word_count()
    assert shape(plan(hinted(result, result=1))) == shape(plan(hinted(result, ("result", "global")))) == apart
    both = plan(program(sink(counts, "counts"), sink(counts, "again")))
    assert shape(both) == {
        "lines": [],
        "count_by_word": ["lines fields(word)"],
        "counts": ["count_by_word global"],
        "again": ["count_by_word global"],
    }
    assert shape(plan(hinted(program(sink(word_count(), "counts")), counts=1)))["counts"] == ["count_by_word global"]


def test_a_result_is_never_written_by_a_spout() -> None:
    """It would read again what it has handed over."""
    assert [part.name for part in plan(program(words())).components] == ["lines", "result"]
