"""What the pages say is refused has a query or a test that sees it refused.

docs/sql.md has a table, construct by construct, whose rows name their cases. `tests/sql/test_refused.py` runs each query under
`tests/refused` and compares the whole sentence. Here is checked that nothing which a page calls refused lacks such a case.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from doc_sources.glossary import unlinked
from tests.house.source import ROOT

PAGES = {
    name: unlinked((ROOT / "docs" / f"{name}.md").read_text())
    for name in ("sql", "joins", "windows", "flink", "batch", "structured", "connectors")
}
SAYS_SO = re.compile(r"\brefus|\bnot supported\b|\bunsupported\b", re.IGNORECASE)

SAID = {
    "sql": {
        "What both tables have is refused": "sql/test_likeness.py::test_what_cannot_be_taken_is_refused",
        "Where one of them never ends, the subquery is refused": "refused/scalar_subquery_of_changes",
        "`= ANY` and their like are refused": "refused/any_subquery refused/all_subquery",
        "A hint for others is refused": "refused/hint_state_ttl_of_changes refused/hint_state_ttl_undated "
        "planner/test_explain_state.py::test_a_time_to_live_for_all_must_bound_all",
        "(`SHUFFLE_HASH` and their like) are refused": "refused/hint_shuffle_hash",
        "folders than those of `PARTITIONED BY` are refused": "connectors/"
        "test_folders.py::test_other_folders_are_refused_with_their_place",
        "a sink with `PARTITIONED BY` is refused": "connectors/test_folders.py::test_what_has_no_folders_is_refused",
        "Spark's streams refuse when the query is planned": "spark/lowering/"
        "test_streaming.py::test_what_spark_cannot_run_is_refused_by_name",
    },
    "joins": {
        "a table that never ends, or is the result of an aggregate, is refused": "refused/hint_broadcast refused/hint_broadcast_of_a_query",
    },
    "windows": {
        "without `LIMIT` is not supported there": "planner/"
        "test_endless.py::test_an_order_of_what_never_ends_is_refused_before_anything_starts",
        "Which rules each kind of query takes; the others": "law/test_emission.py::test_every_rule_gives_the_same_answer_or_is_refused",
        "sessions refuse it": "refused/emit_lateness_of_over refused/emit_lateness_of_sessions",
    },
    "flink": {
        "refused where something in the query": "planner/test_explain_state.py::test_a_time_to_live_for_all_must_bound_all",
    },
    "batch": {
        "A session that is not in ANSI mode or not in UTC is refused": "spark/lowering/test_spark.py"
        "::test_a_session_that_means_something_else_is_refused",
        "that import `ouzel.spark`, refuse it": "spark/batch/test_cli.py::test_spark_connect_is_refused_in_one_sentence",
        "without a number of them the query is refused": "spark/batch/test_bounds.py::test_a_table_without_end_is_refused",
        "refused: it lives in another process": "spark/lowering/test_spark.py::test_what_has_no_batch_form_is_refused",
        "nothing: it is refused by name": "spark/batch/test_period.py::test_a_table_without_any_time_is_refused_by_name",
        "What sets rows beside others": "spark/batch/test_period.py::test_rows_near_the_cut_do_not_lose_the_others_in_silence",
        "Records that a topology refuses": "spark/batch/test_readers.py::test_spark_takes_what_fails_a_stream",
        "by Ouzel's reader, which refuses them too": "spark/batch/test_readers.py::test_both_refuse",
        "inside another object too is refused": "spark/batch/test_readers.py::test_both_find_the_same_fields_inside_others",
        "refuses what would lose something": "spark/batch/test_parquet.py::test_what_would_lose_something_is_refused_by_both",
        "other than `fail` and offsets in WITH are refused": "spark/batch/test_kafka.py::test_what_sparks_own_source_cannot_do_is_refused",
        "one that is there already is refused": "spark/batch/test_cli.py::test_output_insert_and_offsets",
        "what `ouzel batch` cannot do": "spark/batch/test_cli.py::test_what_has_no_batch_is_refused_before_spark_starts",
        "What cannot run is refused before Spark starts": "spark/lowering/test_streaming.py::"
        "test_what_spark_cannot_run_is_refused_by_name dsl/test_platforms.py::test_a_verb_runs_or_is_refused_with_the_reason",
        "any other `error.policy` than `fail` is refused": "spark/streaming/test_limits.py::test_settings",
    },
    "structured": {
        "What cannot be run is refused before Spark starts": "spark/streaming/test_limits.py::test_settings",
        "Refused, when the query is planned, are": "spark/lowering/test_streaming.py::test_what_spark_cannot_run_is_refused_by_name "
        "spark/lowering/test_streaming.py::test_event_time_above_an_operator_of_ours_is_refused "
        "dsl/test_platforms.py::test_a_verb_runs_or_is_refused_with_the_reason",
        "`kestrel`) are refused": "spark/streaming/test_limits.py::test_what_cannot_be_written_once_is_refused",
        "another query, or this one changed, is refused": "spark/streaming/test_limits.py::test_a_checkpoint_is_of_one_query",
    },
    "connectors": {
        "the planner refuses a query whose changes": "refused/append_only",
        "A column that would round or cut": "connectors/test_postgres.py::test_a_column_that_would_round_is_refused",
        "if it is not as in the store, the query is refused": "stores/test_hybrid.py::test_a_hybrid_table_that_is_wrong",
        "What becomes of batches behind the boundary": "stores/test_hybrid.py::test_a_batch_that_neither_side_has_is_refused_or_told",
        "an enum inside another type is refused": "connectors/test_avro.py::test_what_cannot_be_mapped_is_refused",
        "and one that no file has is refused": "connectors/test_file.py::test_a_lacking_parquet_column_is_named",
        "if no value can be lost, and refused otherwise": "spark/batch/test_parquet.py::test_what_would_lose_something_is_refused_by_both",
        "| refused | any other union": "connectors/test_avro.py::test_what_cannot_be_mapped_is_refused "
        "connectors/test_protobuf.py::test_what_cannot_be_mapped_is_refused",
    },
}
"""By page, words of a sentence that calls something refused outside the table of constructs, and what sees it refused."""

OTHERS = {
    "connectors": ("a broker that does not answer; one that refuses", "are reset and refused for as long"),
    "sql": (
        "or for what is refused the [query]",
        "and that every refusal has its way out",
        "The rows of the next table that say `refused`",
    ),
}
"""Sentences in which somebody else refuses, or that speak of these tests."""


def sentences(page: str) -> list[str]:
    """The page's sentences, a row of a table being one, in one line each."""
    blocks = re.split(r"\n\s*\n|\n(?=[|\-#*])", page)
    flat = [re.sub(r"\s+", " ", block).strip() for block in blocks]
    return [
        each
        for block in flat
        for each in ([block] if block.startswith("|") else re.split(r"(?<=[.:]) (?=[A-Z`(\[])", block))
    ]


def not_there(page: str) -> str:
    """The paragraph under `What is not there`."""
    return PAGES[page].split("## What is not there")[1].split("\n## ")[0]


def refused_rows() -> Iterator[tuple[str, list[str]]]:
    """Of each refused row of the table of constructs its first cell, and the names of its cases."""
    for line in PAGES["sql"].split("## Construct by construct")[1].splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if line.startswith("| ") and cells[1] == "refused":
            yield cells[0], re.findall(r"`([^`]+)`", cells[-1])


def words(construct: str) -> set[str]:
    """The keywords of a construct."""
    return set(re.findall(r"\b[A-Z][A-Z_]+\b", construct))


def is_there(name: str) -> bool:
    """Whether that query or test exists, under tests/."""
    file, _, test = name.partition("::")
    path = ROOT / "tests" / (file if test else f"{file}.sql")
    return path.exists() and (not test or f"def {test}(" in path.read_text())


@pytest.mark.parametrize(("construct", "cases"), refused_rows())
def test_each_refused_construct_has_a_query_that_holds_it(construct: str, cases: list[str]) -> None:
    texts = [(ROOT / "tests" / f"{case}.sql").read_text().upper() for case in cases if case.startswith("refused/")]
    if texts:
        without = [
            each
            for each in re.findall(r"`([^`]+)`", construct.split(", but for ")[0])
            if not any(words(each) <= words(text) for text in texts)
        ]
        assert not without, f"no query of this row has {without}; add one to tests/refused and name it in the row"


@pytest.mark.parametrize("page", ["sql", "flink"])
def test_what_is_not_there_stands_in_a_refused_row(page: str) -> None:
    rows = " ".join(f"{construct} {cases}" for construct, cases in refused_rows())
    named = [each for each in re.findall(r"`([^`]+)`", not_there(page)) if each != "refused"]
    assert len(named) >= 5
    assert [each for each in named if f"`{each}`" not in rows and f"`{each.split()[0]}`" not in rows] == []


@pytest.mark.parametrize("page", PAGES)
def test_each_sentence_that_calls_something_refused_has_what_sees_it(page: str) -> None:
    held = [*SAID[page], *OTHERS.get(page, ())]
    table = {line for line in PAGES[page].splitlines() if re.match(r"\| .* \| refused \| \| ", line)}
    rest = re.sub(r"\s+", " ", not_there(page)) if page in ("sql", "flink") else ""
    told = [each for each in sentences(PAGES[page]) if SAYS_SO.search(each) and each not in table]
    bare = [each for each in told if not any(part in each for part in held) and each.strip() not in rest]
    assert bare == [], "name in SAID the query or test that sees it refused"


@pytest.mark.parametrize("page", SAID)
def test_what_sees_it_is_there_and_its_sentence_too(page: str) -> None:
    flat = re.sub(r"\s+", " ", PAGES[page])
    assert [part for part in (*SAID[page], *OTHERS.get(page, ())) if part not in flat] == []
    assert [name for names in SAID[page].values() for name in names.split() if not is_there(name)] == []
