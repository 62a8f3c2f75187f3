"""What a program is told: of functions that fail, of types that are not known, of what cannot be sent; and what its plan looks like."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
import threading
from base64 import b64decode
from collections import namedtuple
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import polars as pl
import pytest

import ouzel
from ouzel import (
    BadRecord,
    QueryError,
    Sink,
    Source,
    StepOptions,
    Store,
    Stream,
    TopologyError,
    col,
    fn,
    monoid,
)
from ouzel.compiler.plan import ApplyPython, SinkMode
from ouzel.compiler.records import made_of
from ouzel.connectors.memory import TABLES
from ouzel.runtime.operators.rowwise.python_steps import PythonSteps

LINES = ["the river runs", "", "under the bridge"]


@dataclass
class Word:
    text: str
    size: int


class Place(NamedTuple):
    word: Word
    tags: dict[str, int]


def words() -> Stream[tuple[str, int]]:
    return Source.of(LINES).flat_map(str.split).map(lambda word: (word, len(word)))


def chains(stream: Stream[Any], **settings: object) -> dict[str, list[str]]:
    """The kinds of nodes by component."""
    return {
        part.name: [type(node).__name__ for node in part.chain] for part in stream.job(**settings).topology.components
    }


def test_a_function_that_raises_points_at_its_line_and_shows_the_record(tmp_path: Path) -> None:
    def inverse(size: int) -> float:
        return 1 / (size - 3)

    halves = words().map_values(inverse).name("inverse")
    with pytest.raises(TopologyError) as failed:
        halves.table("memory")
    text = str(failed.value)
    line = inverse.__code__.co_firstlineno + 1
    assert f"map_values inverse raised ZeroDivisionError: division by zero (at {__file__}:{line})" in text
    assert ": 3\n  return 1 / (size - 3)\n" in text
    kept = halves.table("memory", error_policy="skip")
    assert sorted(kept["key"]) == ["bridge", "river", "runs", "under"]
    halves.table("memory", error_policy="dead-letter", dead_letter_path=str(tmp_path / "letters.json"))
    letters = [json.loads(text) for text in (tmp_path / "letters.json").read_text().splitlines()]
    assert len(letters) == 2
    assert all("ZeroDivisionError" in letter["reason"] for letter in letters)


def test_a_record_of_the_program_has_its_place_in_it_and_a_row_of_a_query_none() -> None:
    with pytest.raises(
        TopologyError, match=r"^bad record at ns\[1\]: map lambda n: 1 // \(n - 2\) raised ZeroDivisionError.*: 2\n"
    ):
        Source.of([1, 2], name="ns").map(lambda n: 1 // (n - 2)).table("memory")
    with pytest.raises(TopologyError, match=r"^bad record: division by zero in 1 / n"):
        ouzel.table("SELECT 1 / n AS x FROM (VALUES (0)) AS v (n);", engine="memory")


def test_what_a_generator_gave_before_it_raised_is_not_kept() -> None:
    def pieces(line: str) -> Iterator[str]:
        for word in line.split():
            yield word
            if word == "under":
                raise ValueError(word)

    made = Source.of(LINES).flat_map(pieces).map(lambda word: (word, 1)).filter_keys(lambda word: word != "runs")
    assert sorted(made.table("memory", error_policy="skip")["key"]) == ["river", "the"], (
        "only the line that failed is lost"
    )


def test_a_record_of_another_type_than_was_said_is_refused() -> None:
    sizes: Stream[int] = Source.of(LINES).map(lambda line: len(line) or "none", returns=int)  # type: ignore[arg-type,return-value]
    with pytest.raises(TopologyError, match=r'gave what does not fit \(value BIGINT\).*"none"'):
        sizes.table("memory")
    assert sorted(sizes.table("memory", error_policy="skip")["value"]) == [14, 16]


@pytest.mark.parametrize(
    ("hint", "good", "bad"),
    [
        (Annotated[Decimal, "DECIMAL(10, 2)"], Decimal("1.25"), Decimal("1.255")),
        (date, date(2026, 1, 2), datetime(2026, 1, 2, 3)),
        (date, date(2026, 1, 2), "2026-01-02"),
        (datetime, datetime(2026, 1, 2), datetime(2026, 1, 2, tzinfo=timezone(timedelta(hours=2)))),
        (datetime, datetime(2026, 1, 2), 5),
        (Place, Place(Word("a", 1), {"b": 2}), Place(Word("a", "1"), {})),  # type: ignore[arg-type]
        (Annotated[int, "INT"], 7, 2**40),
        (list[float], [1.5, float("nan")], ["x"]),
    ],
)
def test_no_value_is_bent_to_fit_its_column(hint: Any, good: object, bad: object) -> None:
    given = {"good": good, "bad": bad}
    stream: Stream[Any] = Source.of(["good", "bad"]).map(given.__getitem__, returns=hint)
    assert stream.table("memory", error_policy="skip").height == 1
    with pytest.raises(TopologyError, match="gave what does not fit"):
        stream.table("memory")
    with pytest.raises(BadRecord, match="does not fit"):
        stream.memory()


def test_a_verb_of_another_library_is_told_by_ours() -> None:
    with pytest.raises(AttributeError, match=r"has no group_by\(\); map to pairs, .* and call sum_by_key\(monoid\)"):
        words().group_by("key")  # type: ignore[attr-defined]
    assert not hasattr(words(), "no_such")


def test_monoids_see_records_as_columns_have_them_and_give_the_users_classes() -> None:
    """On the engine as in plain Python: what cannot be hashed or has no order in Python adds up all the same."""
    found = words().map(lambda pair: (pair[0][:1], Word(*pair)), returns=tuple[str, Word])
    both = monoid.UserDefined(
        "both", Word("", 0), lambda a, b: Word(max(a.text, b.text), a.size + b.size), Word, commutative=True
    )
    for total in (monoid.ListOf(), monoid.SetOf(), monoid.TopK(2), monoid.Min(), monoid.Reservoir(2), both):
        sums: Stream[Any] = found.sum_by_key(total)
        rows = [made_of(sums.record, row) for row in sums.table("memory").iter_rows(named=True)]
        assert sorted(rows, key=repr) == sorted(sums.memory(), key=repr), total
    longest = found.map_values(lambda word: (word.size, word)).sum_by_key(monoid.MaxBy())
    assert ("r", Word("river", 5)) in longest.memory()
    assert "RIVER" in longest.map(lambda pair: pair[1].text.upper()).table("memory")["value"].to_list()


def test_keys_that_python_cannot_hash_are_keys() -> None:
    by_word = words().map(lambda pair: (Word(*pair), 1), returns=tuple[Word, int]).sum_by_key(monoid.Sum())
    letters = words().map(lambda pair: (sorted(pair[0]), 1), returns=tuple[list[str], int])
    nothing = Source.of([(float("nan"), 1), (float("nan"), 2)])
    made: list[Stream[Any]] = [by_word, letters.join(letters), nothing.sum_by_key(monoid.Sum()), nothing.join(nothing)]
    for stream in made:
        rows = [repr(made_of(stream.record, row)) for row in stream.table("memory").iter_rows(named=True)]
        assert sorted(rows) == sorted(map(repr, stream.memory()))


def test_records_are_what_python_has() -> None:
    places = words().map(lambda pair: Place(Word(*pair), {pair[0]: pair[1]})).filter(lambda one: one.word.size > 3)
    longer = places.map(lambda one: Place(Word(one.word.text + "!", one.word.size + 1), {**one.tags, "!": 1}))
    rows = [
        Place(Word(row["word"]["text"], row["word"]["size"]), {one["key"]: one["value"] for one in row["tags"]})
        for row in longer.table("memory").iter_rows(named=True)
    ]
    assert sorted(rows, key=repr) == sorted(longer.memory(), key=repr)
    by_row = words().map(lambda pair: ((pair[1], pair[0][:1]), 1)).sum_by_key(monoid.Sum())
    assert {(tuple(key.values()), value) for key, value in by_row.table("memory").rows()} == set(by_row.memory())


@dataclass
class Empty:
    pass


class Misspelt(NamedTuple):
    nmae: str


class Size(Enum):
    LARGE = 1


def later() -> Stream[int]:
    stream = Source.of([1]).map(lambda n: helper(n))

    def helper(n: int) -> int:
        return n

    return stream


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (lambda: Source.kafka("lines", bootstrap_servers="b:1").map(lambda line: (line, 1)),
         "it is not known which type map lambda line: (line, 1) gives: it has no annotation, and its source "
         "cannot be read before it runs; write map"),
        (lambda: Source.file("sql_examples/data/airlines.parquet", Misspelt, format="parquet").map(lambda one: one.nmae),
         "reads a source that cannot be read (at "),
        (lambda: Source.of(LINES).map(lambda line: object()), "and no column holds values of the type object; give what columns hold"),
        (lambda: Source.of(LINES).map(lambda line: line.words), "map lambda line: line.words raises AttributeError: 'str' object has no"),
        (lambda: Source.of(LINES).map(len, returns=object), "no column holds values of the type object"),
        (lambda: Source.of([]), "write Source.of(records, tuple[str, int])"),
        (lambda: Source.of(LINES).map_values(len), "map_values needs pairs of a key and a value, and these records are str"),
        (lambda: words().sum_by_key(monoid.Sum()).swap().sum_by_key(monoid.Sum()), "map each value to one before, or take another"),
        (lambda: words().merge(Source.of(LINES)), "a stream of tuple[str, int] cannot be merged with one of str"),
        (lambda: words().filter(col("word") == "a"), "there is no column word; there are key, value"),
        (lambda: words().filter(col("value") + 1).job(), "a filter needs a condition"),
        (lambda: words().run(), "this stream writes nothing; end it with write(sink)"),
        (lambda: words().also(words()), "also() takes what writes"),
        (lambda: Source.fille("x"), "there is no connector 'fille'; did you mean Source.file?"),
        (lambda: Source.file("x", folow=True), "'folow'"),
        (lambda: words().sum_by_key(monoid.Sum()).write(Sink.file("out", format="json")).job(), "only takes new records, and these change"),
        (lambda: words().write(Sink.file("out", format="debezium-json")).job(), "debezium-json"),
        (lambda: words().name("pairs").job(options={"pars": StepOptions(2)}), "options for 'pars', and nothing has this name; did you "
         "mean 'pairs'?"),
        (lambda: words().sql("SELECT nokey FROM this"), "there is no column nokey"),
        (lambda: Source.of([1, "a"]), "no column holds both int and str; make all of one type, as by str(record)"),
        (lambda: Source.of([1]) + 1, "a stream is merged with a stream, and 1 is none; to compute something of each"),  # type: ignore[operator]
        (lambda: Source.csv("x.csv"), "csv is a format, and no connector; write Source.file('path', format"),
        (lambda: Source.of(LINES).map(lambda line: set(line)), "no column holds values of the type set"),
        (lambda: words().sum_by_key(monoid.Sum), "sum_by_key adds up by a monoid, and Sum is none; write monoid.Sum()"),  # type: ignore[arg-type]
        (lambda: words().sum_by_key(Store.memory("x"), monoid.Sum()), "and the store 'x' is none; write a monoid first"),  # type: ignore[arg-type]
        (lambda: words().write("out.json"), "write writes to a table, and 'out.json' is none; write stream.write("),  # type: ignore[arg-type]
        (lambda: Source.of([datetime(2026, 1, 1)]).event_time("value", 60), "the delay is a timedelta, and 60 is none"),  # type: ignore[arg-type]
        (lambda: words().name("a").keys().name("a").job(options={"a": StepOptions(2)}), "and 2 steps have this name"),
        (lambda: words().memory(lines=["a"]), "there is no source 'lines'; give records of records"),
        (lambda: words().map(lambda key, value: key), "is given one record and nothing else, and as its arguments are (key, value)"),  # type: ignore[arg-type,misc]
        (lambda: words().filter(lambda: True), "is given one record and nothing else"),  # type: ignore[arg-type]
        (lambda: Source.of([1]).map(lambda _: ()), "tuple[] has no fields, so a record of it is no row"),
        (lambda: Source.of([Empty()]), "Empty has no fields"),
        (lambda: Source.of([namedtuple("Untyped", "a b")(1, 2)]), "the field 'a' of Untyped has no type; write class Untyped("),
        (lambda: Source.of("abc"), "'abc' is one str, and its parts are no records; write Source.of(['abc'])"),
        (lambda: Source.of({"a": 1}), "a mapping gives its keys alone; write Source.of(mapping.items())"),
        (lambda: Source.of(pl.DataFrame({"a": [1]})), "a DataFrame gives its columns, and they are no records; write Source.of(frame.r"),
        (lambda: Source.of(pl.DataFrame({"a": [1]}).to_pandas()), "write Source.of(frame.itertuples(index=False, name=None)"),
        (lambda: Source.of(None), "None holds no records; write Source.of([…])"),  # type: ignore[arg-type]
        (lambda: Source.of(LINES).map(lambda line: Size.LARGE), "no column holds values of the type Size: take its .value"),
        (lambda: Source.of(LINES).map(lambda line: np.float32(len(line))), "values of the type float32: its .item() is Python's own"),
        (lambda: Source.of([datetime(2026, 1, 1), datetime(2026, 1, 1, tzinfo=UTC)]), "both datetime and datetime with a time zone"),
        (lambda: Source.of([(datetime(2026, 1, 1), 1)]).event_time("key").sum_by_window(monoid.Sum(), timedelta(hours=-1)),
         "the size of a window is timedelta(hours=-1); write one longer than nothing"),
        (lambda: later(), "uses 'helper', which is nothing yet; define helper above this step"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_refused_and_says_what_to_write(wrong: Callable[[], object], told: str) -> None:
    with pytest.raises(QueryError) as refused:
        wrong()
    assert told in str(refused.value)


def test_what_cannot_be_sent_is_named_before_anything_starts() -> None:
    lock = threading.Lock()

    def guarded(word: str) -> str:
        with lock:
            return word

    stream = Source.of(LINES).map(guarded)
    with pytest.raises(
        QueryError, match=r"map guarded \(at .*\) uses the variable 'lock', a lock, which cannot be sent"
    ):
        stream.job()


def test_an_open_file_is_not_sent_and_the_variable_is_found_where_it_is(tmp_path: Path) -> None:
    lock, words_of_mine = threading.Lock(), (tmp_path / "words.txt")
    words_of_mine.write_text("the")

    def guarded(word: str) -> str:
        with lock:
            return word

    class Guard:
        def __init__(self) -> None:
            self.door = threading.Lock()

        def enter(self, word: str) -> str:
            return word

    with words_of_mine.open() as known:
        for function, told in (
            (lambda word: known.read() + word, "'known', a TextIOWrapper"),
            (lambda word: guarded(word), "'lock', a lock"),
            (Guard().enter, "'door', a lock"),
        ):
            with pytest.raises(QueryError, match=f"uses the variable {told}, which cannot be sent"):
                Source.of(LINES).map(function, returns=str).job()


def test_steps_in_python_are_one_loop_and_values_keep_their_key() -> None:
    stream = words().map_values(lambda n: n + 1).filter_keys(lambda word: word != "").sum_by_key(monoid.Sum())
    kept = stream.map_values(lambda n: -n).write(Sink.memory("kept"))
    parts = chains(kept, answers=False, parallelism=2)
    assert parts["records"] == ["Scan", "ApplyPython"]
    assert "map_values lambda n: -n; keeps key" in kept.explain()
    (node,) = [
        node for part in kept.job().topology.components for node in part.chain if isinstance(node, ApplyPython) and node.kept
    ]  # fmt: skip
    assert node.origins == {"key": (0, "key")}


def test_what_keeps_the_key_of_a_sum_is_written_where_it_is_summed() -> None:
    total, options = words().sum_by_key(monoid.Sum()), {"bootstrap_servers": "b:1", "format": "json"}
    kept = total.map_values(lambda n: -n).write(Sink.kafka("totals", **options))
    assert chains(kept, answers=False, parallelism=2)["sum_by_key"][-1] == "Sink", "no hop before it"


@pytest.mark.parametrize(("format", "mode"), [("json", SinkMode.UPSERT), ("debezium-json", SinkMode.RETRACT)])
def test_a_sum_into_kafka_replaces_by_key_unless_each_change_is_a_record(format: str, mode: SinkMode) -> None:
    stream = words().sum_by_key(monoid.Sum()).write(Sink.kafka("totals", bootstrap_servers="b:1", format=format))
    assert {sink.table: sink.mode for sink in stream.job().program.sinks}["totals"] is mode


def test_fused_or_not_steps_and_what_is_above_have_the_same_ids() -> None:
    from ouzel.planner.rules.dag import Dag
    from ouzel.planner.rules.fuse_python_steps import fuse_python_steps

    stream = words().map_values(lambda n: n + 1).sum_by_key(monoid.Sum())
    dag = Dag(stream.job().program.sinks)
    fused = fuse_python_steps(dag)
    assert len(list(fused.nodes())) < len(list(dag.nodes()))
    assert [sink.stable_id for sink in dag.sinks] == [sink.stable_id for sink in fused.sinks]
    again = words().map_values(lambda n: n + 1).sum_by_key(monoid.Sum())
    other = words().map_values(lambda n: n + 2).sum_by_key(monoid.Sum())
    ids = [Dag(one.job().program.sinks).sinks[0].stable_id for one in (stream, again, other)]
    assert ids[0] == ids[1] != ids[2]


def test_steps_above_a_merge_are_fused_with_those_of_each_branch() -> None:
    merged = Source.of([3]) + Source.of([4]).map(lambda n: n + 1)
    text = merged.filter(lambda n: n > 1).explain()
    assert "Source.of records, filter lambda n: n > 1" in text
    assert "Source.of records, map lambda n: n + 1, filter lambda n: n > 1" in text


def test_a_job_holds_the_functions_of_a_module_that_is_not_installed(tmp_path: Path) -> None:
    (tmp_path / "helpers_of_mine.py").write_text(
        "def twice(n: int) -> int:\n    return double(n)\n\n\ndef double(n):\n    return n * 2\n"
    )
    program = (
        "from helpers_of_mine import twice\nfrom ouzel import Source\nprint(Source.of([3]).map(twice).spark_job())"
    )
    text = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True
    ).stdout
    job: dict[str, Any] = {"__name__": "job"}
    exec(compile(text, "job.py", "exec"), job)
    (steps,) = job["STEPS"].values()
    node = pickle.loads(b64decode(steps))
    first = pl.DataFrame({name: [0] for name in node.reads})
    assert PythonSteps(node).process(first).to_series().to_list() == [6]  # type: ignore[union-attr]


def test_options_speak_of_a_step_by_its_name() -> None:
    stream = words().sum_by_key(monoid.Sum()).name("total")
    job = stream.job(options={"total": StepOptions(parallelism=3)})
    assert job.topology.component("sum_by_key").parallelism == 3


def test_a_sum_may_combine_before_it_sends() -> None:
    totals = words().sum_by_key(monoid.Sum()).name("total")
    told = {"total": StepOptions(parallelism=2, combine=True)}
    job = totals.job(options=told)
    assert "PartialAggregate" in {type(node).__name__ for node in job.topology.components[0].chain}
    assert job.topology.components[1].parallelism == 2
    assert sorted(totals.table("memory", options=told).rows()) == sorted(totals.memory())


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"cache_size": 10}, "a step has no option 'cache_size'; write combine=True: what is combined is a batch"),
        ({"paralelism": 10}, "a step has no option 'paralelism'; did you mean parallelism?"),
        ({"weight": 10}, "a step has no option 'weight'; there are parallelism, combine"),
    ],
    ids=["summingbird", "typo", "unknown"],
)
def test_an_option_that_there_is_not_is_refused_with_what_there_is(options: dict[str, Any], told: str) -> None:
    with pytest.raises(QueryError, match=told):
        StepOptions(**options)


def test_what_is_no_sum_does_not_combine() -> None:
    with pytest.raises(QueryError, match="'pairs' is no sum that can be combined before it is sent; leave combine out"):
        words().name("pairs").job(options={"pairs": StepOptions(combine=True)})


def test_everything_that_is_written_is_written_once() -> None:
    TABLES.pop("all", None), TABLES.pop("totals", None), TABLES.pop("long", None)
    pairs = words().write(Sink.memory("all"))
    totals = pairs.sum_by_key(monoid.Sum(), Store.memory("totals"))
    long = pairs.filter_values(lambda n: n > 4).write(Sink.memory("long"))
    totals.also(long).run("memory")
    assert sorted(TABLES["all"].result()["key"]) == sorted(" ".join(LINES).split())
    assert sorted(TABLES["long"].result()["key"]) == ["bridge", "river", "under"]
    kept = TABLES["totals"].result()
    assert kept.group_by("key").agg(pl.col("value").last()).filter(pl.col("key") == "the")["value"].to_list() == [6]


def test_sql_and_python_take_turns_in_one_plan() -> None:
    longest = (
        words()
        .sql('SELECT key AS word, MAX("value") AS size FROM this GROUP BY key')
        .map(lambda row: (row.size, row.word))
    )
    assert sorted(longest.table("memory").rows())[0] == (3, "the")
    joined = words().sql('SELECT this.key, n."value" AS n FROM this JOIN n ON this.key = n.key', n=words())
    assert joined.table("memory").height == 8
    upper = words().filter(col("value") > 3).select("key", loud=fn.upper(col("key")), twice=col("value") * 2)
    assert ("river", "RIVER", 10) in upper.table("memory").rows()


def test_the_first_records_of_a_stream_without_an_end_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    class Tick(NamedTuple):
        n: int

    numbers = Source.datagen("numbers", Tick, **{"fields.n.kind": "sequence"})
    numbers.map(lambda tick: tick.n * 10, returns=int).show(3)
    shown = capsys.readouterr().out
    assert all(f"│ {n}" in shown for n in (0, 10, 20)), shown
    words().show()
    assert "bridge" in capsys.readouterr().out


def test_functions_of_columns_compute_whole_batches() -> None:
    @ouzel.column_function(list[str])
    def split(lines: pl.Series) -> pl.Series:
        return lines.str.split(" ")

    @ouzel.column_function(str)
    def words_of(lines: pl.Series) -> pl.Series:
        return lines.str.split(" ")

    @ouzel.column_function(tuple[str, int])
    def sized(words: pl.Series) -> tuple[pl.Series, pl.Series]:
        return words, words.str.len_chars()

    @ouzel.column_function(bool)
    def some(words: pl.Series) -> pl.Series:
        return words != ""

    assert Source.of(LINES).map(split).table("memory").height == 3
    pairs = Source.of(LINES).flat_map(words_of).filter(some).map(sized).sum_by_key(monoid.Sum())
    assert sorted(pairs.table("memory").rows()) == sorted(words().sum_by_key(monoid.Sum()).memory())
