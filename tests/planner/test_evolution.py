"""What becomes of state when another query takes a topology's place: kept only where it means the very same, with a sentence for all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import ouzel
from ouzel.compiler.code_identity import code_id
from ouzel.compiler.functions.known import Row
from ouzel.errors import TopologyError
from ouzel.planner.evolution import EMPTY, Evolution, StateFate, compare_topologies
from ouzel.planner.meaning import keeps_state, state_id, with_code
from ouzel.planner.topology import Topology
from ouzel.runtime.operators.build import build_chain
from ouzel.session import load_text
from tests.law.cases import CASES, Case
from tests.law.inputs import write_inputs

WORDS = (
    "CREATE TABLE w (word VARCHAR, n INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) "
    "WITH ('connector' = 'file', 'path' = 'w.csv', 'format' = 'csv');\n"
)
USERS = "CREATE TABLE u (name VARCHAR, word VARCHAR) WITH ('connector' = 'file', 'path' = 'u.csv', 'format' = 'csv');\n"
OUT = (
    "CREATE TABLE out (word VARCHAR, many BIGINT, PRIMARY KEY (word) NOT ENFORCED) "
    "WITH ('connector' = 'postgres', 'url' = 'postgresql://h/d', 'table' = 'o');\n"
)
COUNT = "SELECT word, COUNT(*) AS many FROM w WHERE n > 1 GROUP BY word"
INTO = f"{OUT}INSERT INTO out {COUNT}"
EVENTS = "FROM TABLE(TUMBLE(TABLE w, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end, word"
WINDOWS = f"SELECT window_end, word, COUNT(*) AS many {EVENTS}"


def planned(text: str, pairs: Sequence[tuple[str, str]] = (), functions: Sequence[Row] = ()) -> Topology:
    return with_code(load_text(text, Path(), "q", (("checkpoint.interval.ms", "1000"), *pairs), functions).topology)


def evolved(old: str, new: str, pairs: Sequence[tuple[str, str]] = ()) -> Evolution:
    return compare_topologies(planned(WORDS + USERS + old), planned(WORDS + USERS + new, pairs))


def fates(evolution: Evolution) -> list[tuple[str, StateFate]]:
    return [(one.what, one.fate) for one in evolution.operators]


KEEPS = {
    "nothing": (COUNT, COUNT),
    "comments and white space": (COUNT, f"-- counts\n{COUNT.replace(' ', chr(10) + '   ')} /* all */"),
    "another column": (INTO, INTO.replace("SELECT word,", "SELECT UPPER(word) AS word,")),
    "a renamed result": (COUNT, COUNT.replace("many", "how_often")),
    "columns in another order": (INTO, INTO.replace("SELECT word, COUNT(*) AS many", "(many, word) SELECT COUNT(*), word")),
    "a filter behind the aggregate": (INTO, f"{OUT}INSERT INTO out SELECT * FROM ({COUNT}) AS counts WHERE many > 5"),
    "a view between": (COUNT, f"CREATE VIEW big AS SELECT word, n FROM w WHERE n > 1; {COUNT.replace('w WHERE n > 1', 'big')}"),
    "another parallelism": (f"SET 'parallelism' = '2'; {COUNT}", f"SET 'parallelism' = '5'; {COUNT}"),
    "another name of a table's alias": (COUNT, COUNT.replace("FROM w", "FROM w AS x").replace("n > 1", "x.n > 1")),
    "conditions in another order": (
        COUNT.replace("n > 1", "n > 1 AND word <> 'a'"), COUNT.replace("n > 1", "word <> 'a' AND n > 1"),
    ),
    "windows": (WINDOWS, WINDOWS.replace("many", "how_often")),
    "a join": (
        "SELECT w.word, name FROM w JOIN u ON w.word = u.word",
        "SELECT name AS who, w.word FROM w JOIN u ON w.word = u.word WHERE name <> 'x' OR w.word <> 'y'",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", KEEPS)
def test_what_means_the_same_is_kept(case: str) -> None:
    old, new = KEEPS[case]
    evolution = evolved(f"{old};", f"{new};")
    assert [one.fate for one in evolution.operators] == [StateFate.KEPT], evolution.operators
    assert evolution.losses == ()
    assert [former.states for former in evolution.formers.values() if former.states] == [(0,)]


LOSES = {
    "a changed filter": (
        COUNT, COUNT.replace("n > 1", "n > 2"),
        "its rows are filtered by gt(n, 2) now, and were by gt(n, 1)",
    ),
    "a filter less": (COUNT, COUNT.replace("WHERE n > 1", ""), "its rows are not filtered by gt(n, 1) any more"),
    "a filter more": (COUNT, COUNT.replace("n > 1", "n > 1 AND word <> 'a'"), "its rows are filtered by ne(word, 'a') now"),
    "an aggregate more": (
        COUNT, COUNT.replace("many", "many, SUM(n) AS total"),
        "it computes COUNT(*), SUM(N) now, and computed COUNT(*), and rows that are gone cannot be counted again",
    ),
    "another key": (COUNT, COUNT.replace("word", "n"), "it groups by n now, and grouped by word"),
    "a wider window": (
        WINDOWS, WINDOWS.replace("'1' MINUTE", "'2' MINUTE"),
        "its windows are other ones: TUMBLE(ts, size 120 s) instead of TUMBLE(ts, size 60 s)",
    ),
    "aggregates in another order": (
        "SELECT SUM(n) AS a, MAX(n) AS b FROM w GROUP BY word", "SELECT MAX(n) AS b, SUM(n) AS a FROM w GROUP BY word",
        "its aggregates are in another order: write them in the order in which they stood",
    ),
    "other changes": (
        COUNT, f"{COUNT} EMIT AFTER DELAY INTERVAL '1' SECOND",
        "its rows leave otherwise: EMIT AFTER DELAY 1000 ms instead of CHANGES",
    ),
    "a column more of what a join keeps": (
        "SELECT w.word, name FROM w JOIN u ON w.word = u.word", "SELECT w.word, n, name FROM w JOIN u ON w.word = u.word",
        "what it computes, or what comes to it, is something else now",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", LOSES)
def test_what_means_something_else_begins_empty(case: str) -> None:
    old, new, why = LOSES[case]
    evolution = evolved(f"{old};", f"{new};")
    assert [(one.fate, one.why) for one in evolution.losses] == [(StateFate.EMPTIED, why)]
    assert {former.states for former in evolution.formers.values()} == {(), (EMPTY,)}
    assert {one.fate for one in evolution.sources} == {StateFate.KEPT}


@pytest.mark.parametrize(
    ("was", "now", "why"),
    [
        ("'path' = 'w.csv'", "'path' = 'v.csv'", "table 'w' before it is another: its option 'path' is another"),
        ("n INT", "n BIGINT", "its rows are filtered by gt(n, 1) now"),
    ],
)
def test_another_table_of_the_name_is_another(was: str, now: str, why: str) -> None:
    evolution = compare_topologies(planned(f"{WORDS}{COUNT};"), planned(f"{WORDS.replace(was, now)}{COUNT};"))
    (lost,) = evolution.losses
    assert lost.why.startswith(why)
    (source,) = evolution.sources
    assert source.fate is (StateFate.EMPTIED if "path" in was else StateFate.KEPT)
    assert "path" not in was or source.why == "its option 'path' is another, so it is read anew, as in a new run"


@pytest.mark.parametrize(
    "options", ["'bad.record' = 'skip'", "'bad.record' = 'dead-letter', 'dead-letter.path' = 'd.jsonl'"]
)
def test_what_becomes_of_bad_records_changes_nothing_of_the_others(options: str) -> None:
    lenient = WORDS.replace("'path' = 'w.csv'", f"'path' = 'w.csv', {options}")
    for query in (COUNT, WINDOWS):
        evolution = compare_topologies(planned(f"{WORDS}{query};"), planned(f"{lenient}{query};"))
        assert [one.fate for one in evolution.changes] == [StateFate.KEPT] * 3, evolution.changes
        assert {former.component for former in evolution.formers.values()} >= {"w"}
    both = compare_topologies(planned(f"{WORDS}{COUNT};"), planned(f"{lenient.replace('w.csv', 'v.csv')}{COUNT};"))
    assert "its option 'path' is another" in both.sources[0].why


def test_another_watermark_empties_windows_and_nothing_else() -> None:
    both = f"{WORDS}CREATE TABLE o WITH ('connector' = 'print') AS {WINDOWS}; {COUNT};"
    later = both.replace("ts AS ts", "ts AS ts - INTERVAL '5' SECOND")
    evolution = compare_topologies(planned(both), planned(later))
    assert [fate for _, fate in fates(evolution)] == [StateFate.EMPTIED, StateFate.KEPT], evolution.operators


def test_a_sink_more_leaves_the_others_alone() -> None:
    """Then the source is read by two, so that the filter of one does not stand in it any more."""
    insert = f"INSERT INTO out {COUNT};"
    for other in ("SELECT word, n FROM w WHERE n > 3;", "SELECT n, COUNT(*) AS c FROM w GROUP BY n;", f"{WINDOWS};"):
        evolution = evolved(OUT + insert, OUT + insert + other)
        assert fates(evolution)[0] == ("count_by_word", StateFate.KEPT), evolution.operators
        assert evolution.losses == ()
        back = evolved(OUT + insert + other, OUT + insert)
        assert fates(back)[0] == ("count_by_word", StateFate.KEPT)
        assert [one.fate for one in back.sinks] == [StateFate.KEPT, StateFate.DROPPED]


def test_statements_in_another_order() -> None:
    one, two = f"INSERT INTO out {COUNT};", f"INSERT INTO p {COUNT.replace('n > 1', 'n > 7')};"
    tables = OUT + OUT.replace("TABLE out", "TABLE p").replace("'o'", "'p'")
    evolution = evolved(tables + one + two, tables + two + one)
    assert [fate for _, fate in fates(evolution)] == [StateFate.KEPT, StateFate.KEPT]
    assert len({former.component for former in evolution.formers.values() if former.states}) == 2


def test_a_query_that_goes_is_dropped_and_its_state_is_lost() -> None:
    evolution = evolved(f"{OUT}INSERT INTO out {COUNT}; {WINDOWS};", f"{WINDOWS};")
    assert [(one.what, one.fate, one.why) for one in evolution.losses] == [
        ("count_by_word", StateFate.DROPPED, "the new query has no such operator")
    ]


def test_who_reads_what_is_taken_back_begins_empty_together_with_it() -> None:
    nested = "SELECT many, COUNT(*) AS words FROM ({}) AS counts GROUP BY many;"
    fresh = evolved(f"{COUNT};", nested.format(COUNT))
    assert fates(fresh) == [("count_by_word", StateFate.EMPTIED), ("count_by_many", StateFate.NEW)]
    assert fresh.losses[0].why == (
        "count_by_many begins empty, and would be told that rows are taken back which it has never seen"
    )
    changed = evolved(nested.format(COUNT), nested.format(COUNT.replace("n > 1", "n > 2")))
    assert [fate for _, fate in fates(changed)] == [StateFate.EMPTIED, StateFate.EMPTIED]
    same = evolved(nested.format(COUNT), nested.format(COUNT))
    assert [fate for _, fate in fates(same)] == [StateFate.KEPT, StateFate.KEPT]


def test_what_only_comes_may_be_read_by_what_is_new() -> None:
    sums = "SELECT word, SUM(many) AS total FROM ({}) AS counts GROUP BY word;"
    evolution = evolved(f"{WINDOWS};", sums.format(WINDOWS))
    assert [fate for _, fate in fates(evolution)] == [StateFate.KEPT, StateFate.NEW]


def test_a_source_that_takes_rows_back_cannot_be_read_on_by_what_begins_empty() -> None:
    table = WORDS.replace(
        "'path' = 'w.csv', 'format' = 'csv'", "'path' = 'w.json', 'format' = 'debezium-json'"
    ).replace(", ts TIMESTAMP(3), WATERMARK FOR ts AS ts", "")
    with pytest.raises(TopologyError, match="count_by_word would begin empty, and table 'w' would take back rows"):
        compare_topologies(planned(f"{table}{COUNT};"), planned(f"{table}{COUNT.replace('n > 1', 'n > 2')};"))


def shout(text: str) -> str:
    return text.upper()


def whisper(text: str) -> str:
    """Says it in a low voice."""
    # that is all
    return text.lower()


def test_the_code_of_a_function_is_part_of_what_is_counted() -> None:
    def topology(python: Callable[[str], str]) -> Topology:
        row = ouzel.function(("VARCHAR",), "VARCHAR", name="voiced", by_row=True)(python)
        return planned(f"{WORDS}SELECT voiced(word) AS said, COUNT(*) AS n FROM w GROUP BY voiced(word);", (), [row])

    def again(text: str) -> str:
        return text.lower()

    assert fates(compare_topologies(topology(whisper), topology(again))) == [("count_by_key", StateFate.KEPT)]
    (lost,) = compare_topologies(topology(whisper), topology(shout)).losses
    assert lost.why == "the code of voiced is another, and what it gave before is in it"
    unnoted = replace(topology(whisper), code=())
    assert [one.fate for one in compare_topologies(unnoted, topology(whisper)).losses] == [StateFate.EMPTIED]


class Word(NamedTuple):
    """A record."""

    word: str


def test_functions_that_are_trusted_keep_what_is_behind_them_whatever_their_code_is(tmp_path: Path) -> None:
    (tmp_path / "w.jsonl").write_text('{"word": "a"}\n')
    words = ouzel.Source.file(tmp_path / "w.jsonl", Word, format="json")

    def counted(function: Callable[[Word], Any], kind: type = str) -> Topology:
        pairs = words.map(function, returns=kind).map(with_one, returns=tuple[kind, int])
        return with_code(pairs.sum_by_key(ouzel.monoid.Sum()).job().topology)

    def with_one(word: Any) -> Any:
        return word, 1

    was, now = counted(lambda record: record.word), counted(lambda record: record.word.strip())
    (lost,) = compare_topologies(was, now).losses
    assert (lost.why, lost.by_code) == ("a function before it has other code, and what it gave before is in it", True)
    trusted = compare_topologies(was, now, trusts=True)
    assert trusted.losses == ()
    assert not trusted.is_result_anew
    assert trusted.operators[0].why == "functions before it have other code, and are trusted to give what they gave"
    other = compare_topologies(was, counted(lambda record: len(record.word), int), trusts=True)
    assert not other.losses[0].by_code, "what it gives has another type"


def test_what_a_function_uses_is_part_of_its_code() -> None:
    factor = 2

    def helped(value: int) -> int:
        return scaled(value) * factor

    def again(value: int) -> int:
        """What a doc string says is no code."""
        return scaled(value) * factor

    before = code_id(helped)
    assert code_id(again) == before
    factor = 3
    assert code_id(helped) != before
    factor = 2
    assert code_id(helped) == before
    original = globals()["scaled"]
    globals()["scaled"] = lambda value: value * 11
    try:
        assert code_id(helped) != before
    finally:
        globals()["scaled"] = original


def scaled(value: int) -> int:
    return value * 10


def test_sinks_are_told() -> None:
    insert = f"INSERT INTO out {COUNT};"
    evolution = evolved(OUT + insert, OUT.replace("'table' = 'o'", "'table' = 'p'") + insert)
    assert [(one.fate, one.why) for one in evolution.sinks] == [
        (
            StateFate.NEW,
            "it is another place (its option 'table' is another), and gets what changes from now on; what was answered before is not "
            "written into it",
        )
    ]
    evolution = evolved(f"{COUNT};", f"{COUNT.replace('many', 'how_often')};")
    assert [(one.what, one.why) for one in evolution.sinks] == [
        ("the result", "its columns are called word, how_often from now on")
    ]
    evolution = evolved(f"{INTO};", f"{INTO.replace('COUNT(*) AS many', 'COUNT(*) + 1 AS more')};")
    assert [(one.what, one.why) for one in evolution.sinks] == [("table 'out'", "it is written on")]


def test_a_result_that_takes_rows_back_is_right_or_begins_anew() -> None:
    for other in (
        COUNT.replace("word,", "word, UPPER(word) AS loud,"),
        f"SELECT * FROM ({COUNT}) AS counts WHERE many > 5",
    ):
        (lost,) = evolved(f"{COUNT};", f"{other};").losses
        assert (
            lost.why
            == "the result has other columns or rows now, and would be told that rows are taken back which it never had"
        )


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the law's tables in `data`."""
    directory = tmp_path_factory.mktemp("law")
    write_inputs(directory)
    return directory


@pytest.mark.parametrize("case", CASES, ids=str)
def test_every_query_is_what_it_was(case: Case, inputs: Path) -> None:
    """Whatever a query is made of, its state is found again, and by the id that its operators go by in snapshots."""
    pairs = (("parallelism", "2"),)
    jobs = [load_text(case.program, inputs, "q", pairs) for _ in range(2)]
    evolution = compare_topologies(*(job.topology for job in jobs))
    assert evolution.losses == ()
    assert all(one.fate is StateFate.KEPT for one in evolution.changes), evolution.changes
    for component in jobs[0].topology.components:
        kept = [state_id(node) for node in component.chain if keeps_state(node)]
        states = [state.operator.rpartition(" ")[2] for state in build_chain(component.chain, jobs[0].settings).states]
        assert kept == states
