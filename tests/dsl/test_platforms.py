"""Each verb on each platform: it runs there and gives what plain Python gives, or it is refused with the reason; docs/dsl.md says which."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from doc_sources.glossary import unlinked
from ouzel import NotSupported, Stream
from ouzel.compiler.records import made_of
from ouzel.spark.lowering.streaming import streaming_queries
from ouzel.spark.streaming import start_structured
from tests.dsl.verbs import VERBS, write_inputs
from tests.house.source import ROOT

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MEMORY, TOPOLOGY, BATCH, STREAMS = range(4)

WHY: dict[tuple[str, int], str] = {
    ("sum_by_window", STREAMS): r"cannot take functions of Python below a window.*, as map .* at .*verbs\.py:\d+",
    ("sql", MEMORY): "is SQL, which plain Python does not compute",
}
"""What is refused where, and what the refusal says."""


def structured(stream: Stream[Any]) -> object:
    job = stream.job()
    return streaming_queries(job.program, job.directory, "verb")


PLATFORMS: tuple[Callable[[Stream[Any]], object], ...] = (Stream.memory, Stream.job, Stream.spark_job, structured)


@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_runs_or_is_refused_with_the_reason(verb: str, tmp_path: Path) -> None:
    write_inputs(tmp_path)
    for place, platform in enumerate(PLATFORMS):
        if (verb, place) in WHY:
            with pytest.raises(NotSupported, match=WHY[verb, place]):
                platform(VERBS[verb](tmp_path))
        else:
            platform(VERBS[verb](tmp_path))


@pytest.mark.parametrize("verb", [verb for verb in VERBS if (verb, MEMORY) not in WHY])
def test_a_verb_gives_in_the_simulator_what_it_gives_in_plain_python(verb: str, tmp_path: Path) -> None:
    write_inputs(tmp_path)
    stream = VERBS[verb](tmp_path)
    meant = stream.memory()
    found = [made_of(stream.record, row) for row in stream.table("memory").iter_rows(named=True)]
    assert Counter(map(repr, found)) == Counter(map(repr, meant))
    assert meant


def table() -> str:
    """What docs/dsl.md says runs where."""
    rows = [(verb, tuple("no" if (verb, place) in WHY else "yes" for place in range(4))) for verb in VERBS]
    lines = [
        f"| {', '.join(f'`{verb}`' if verb.isidentifier() else verb for verb, _ in alike)} | {' | '.join(cells)} |"
        for cells, alike in groupby(sorted(rows, key=lambda row: row[1], reverse=True), key=lambda row: row[1])
    ]
    return "\n".join(
        ['| what | `memory()` | topology | `batch()` | `table("spark")` |', "|---|---|---|---|---|", *lines]
    )


def test_the_page_says_what_runs_where() -> None:
    assert table() in unlinked((ROOT / "docs/dsl.md").read_text()), f"put this into docs/dsl.md:\n{table()}"


def test_the_table_has_every_verb_there_is() -> None:
    told = {word for verb in VERBS for word in re.findall(r"\w+", verb)}
    runs = {
        "job",
        "run",
        "start",
        "table",
        "batch",
        "spark_job",
        "memory",
        "explain",
        "show",
        "record",
        "run_both",
        "changes",
        "tables",
        "plot",
    }
    assert {name for name in dir(Stream) if not name.startswith("_")} - runs <= told


@pytest.mark.slow
@pytest.mark.spark
def test_spark_gives_what_plain_python_gives_verb_by_verb(tmp_path: Path, spark: SparkSession) -> None:
    write_inputs(tmp_path)
    for verb in ("also", "sum_by_window", "select", "functions of columns", "sql"):
        stream = VERBS[verb](tmp_path)
        assert Counter(map(repr, stream.batch().rows())) == Counter(map(repr, stream.table("memory").rows())), verb


@pytest.mark.slow
@pytest.mark.spark
def test_functions_run_on_streams_of_spark(tmp_path: Path, spark: SparkSession) -> None:
    write_inputs(tmp_path)
    for verb in ("map_values", "sum_by_key of a sum", "left_join", "running_sum"):
        stream = VERBS[verb](tmp_path)
        with start_structured(stream.job(), spark=spark) as run:
            rows = Counter[str]()
            for row in run:
                weight = row.pop("$weight", 1)
                rows[repr(made_of(stream.record, row))] += weight
        assert +rows == Counter(map(repr, stream.memory())), verb
