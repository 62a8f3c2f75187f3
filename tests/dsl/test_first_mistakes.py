"""What a program is told that makes a mistake of its first hour, and what `help` shows."""

from __future__ import annotations

import asyncio
import pydoc
import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Literal, NamedTuple, NewType
from zoneinfo import ZoneInfo

import polars as pl
import pytest

import ouzel
from ouzel import Sink, Source, Store, monoid
from ouzel.compiler.catalog import QueryWarning
from ouzel.errors import OuzelError, QueryError
from tests.dsl import mistakes, mistakes_from_elsewhere, mistakes_in_use, mistakes_on_records
from tests.dsl.mistakes_from_elsewhere import AIRLINES, added

WHEN_WRITTEN = (
    mistakes.WHEN_WRITTEN
    | mistakes_from_elsewhere.FROM_ELSEWHERE
    | mistakes_in_use.IN_USE
    | mistakes_on_records.WRITTEN
)
WHEN_RUN = (
    mistakes.WHEN_RUN
    | mistakes_from_elsewhere.FROM_ELSEWHERE_WHEN_RUN
    | mistakes_in_use.IN_USE_WHEN_RUN
    | mistakes_on_records.RUN
)


class Named(NamedTuple):
    """An airline."""

    carrier: str
    name: str


@pytest.mark.parametrize(
    ("function", "told"),
    [
        (lambda n: n + 1, r"gives 2, which is of type int, and flat_map gives the records of a list, one by one"),
        (lambda n: None, r"gives None, which is of type NoneType"),
    ],
)
def test_flat_map_of_what_is_no_list_says_so(function: Any, told: str) -> None:
    with pytest.raises(QueryError, match=told) as caught:
        Source.of([1, 2]).flat_map(function)
    assert caught.value.instead == "return a list, or write map(...) for one record"


@pytest.mark.parametrize(
    ("what", "lines"),
    [
        (
            Source,
            (
                "Source.file(path, record type, option=value, ...)",
                "    bad_record: What becomes",
                "    csv_delimiter: ",
            ),
        ),
        (Sink, ("Sink.kafka(topic, option=value, ...)", "    bootstrap_servers: ")),
        (Store, ("Store.redis",)),
    ],
    ids=lambda one: getattr(one, "__name__", ""),
)
def test_help_lists_connectors_with_their_options(what: type, lines: tuple[str, ...]) -> None:
    text = pydoc.plain(pydoc.render_doc(what))
    assert "Where" in text
    assert all(line in text for line in lines), text


class Numbered:
    """A service that takes its keys as a list."""

    def get_many(self, keys: list[int]) -> dict[int, str]:
        """Needs what only a list has."""
        return {key: f"number {place}" for place, key in enumerate(keys[:])}


def test_a_service_is_given_a_list() -> None:
    pairs = Source.of([(3, "a"), (3, "b"), (4, "c")]).left_join(Numbered(), returns=str)
    assert sorted(pairs.memory()) == [(3, ("a", "number 0")), (3, ("b", "number 0")), (4, ("c", "number 1"))]


@pytest.mark.parametrize("name", WHEN_WRITTEN)
def test_a_program_that_is_wrong_is_told_what_to_write(name: str) -> None:
    program, told = WHEN_WRITTEN[name]
    with pytest.raises((OuzelError, AttributeError, TypeError)) as caught:
        program()
    assert _shown(caught.value) == told


@pytest.mark.parametrize("name", WHEN_RUN)
def test_a_program_that_fails_on_a_record_is_told_the_record_and_the_line(name: str) -> None:
    program, told = WHEN_RUN[name]
    with pytest.raises(OuzelError) as caught:
        program()
    assert _shown(caught.value) == told


def _shown(error: BaseException) -> str:
    told = re.sub(r"[^\s(]*/mistakes\w*.py:[0-9]+", "LINE", str(error))
    told = re.sub(r"^\w+_by_key:", "PLACE:", told)
    told = re.sub(r"<Expr .*?>", "EXPR", told)
    return told.replace(str(Path.cwd()), "FOLDER")


def test_what_plain_python_raises_has_the_record_below_its_text() -> None:
    pairs = Source.of([("a", 1), ("b", None)], tuple[str, int | None])
    with pytest.raises(TypeError, match="NoneType") as caught:
        pairs.filter_values(lambda n: n > 1).memory()
    given, advice = caught.value.__notes__
    assert re.fullmatch(r"filter_values lambda n: n > 1 \(at \S+\) was given None", given)
    assert advice.endswith("write filter_values(lambda n: n is not None and n > 1)")


def test_a_function_that_counts_in_a_variable_of_its_module_is_warned_of() -> None:
    """A task counts in a module of its own: the program printed 0."""
    with pytest.warns(QueryWarning, match=r"map added counts in the global 'seen'.*ouzel\.counter\('seen'\)") as told:
        Source.of(["a"]).map(added)
    assert told[0].filename == __file__


def test_a_stream_runs_by_the_functions_that_run_queries() -> None:
    counted = Source.of(["a", "b", "a"]).map(lambda word: (word, 1)).sum_by_key(monoid.Sum())
    assert sorted(ouzel.table(counted, "memory").rows()) == [("a", 2), ("b", 1)]


def test_a_path_may_be_one_of_pathlib_and_a_span_a_setting() -> None:
    read = Source.file(Path(AIRLINES), Named, format="parquet")
    table = read.table("memory", checkpoint_interval_ms=timedelta(seconds=10))
    assert table.height == 16


def test_a_table_comes_in_the_order_that_its_sql_says() -> None:
    """The first rows were there, in any order."""
    first = Source.of([("a", 1), ("b", 3), ("c", 2)]).sql("SELECT * FROM this ORDER BY value DESC LIMIT 2")
    assert first.table("memory").rows() == [("b", 3), ("c", 2)]
    assert first.name("first").table("memory").rows() == [("b", 3), ("c", 2)]


def test_a_zone_may_be_one_of_zoneinfo() -> None:
    timed = Source.of([(datetime(2026, 7, 1), 1)]).event_time("key").map(lambda pair: ("a", pair[1]))
    days = timed.sum_by_window(monoid.Sum(), timedelta(days=1), zone=ZoneInfo("Europe/Berlin"))
    assert [row.window_start for row in days.memory()] == [datetime(2026, 6, 30, 22)]


Customer = NewType("Customer", int)


@dataclass
class Visit:
    """A record whose fields have types of the writer's own."""

    customer: Customer
    kind: Literal["click", "order"]


def test_a_newtype_and_a_literal_are_columns_of_the_types_below() -> None:
    visits = Source.of([Visit(Customer(1), "click"), Visit(Customer(2), "order")])
    table = visits.filter(lambda visit: visit.kind == "order").table("memory")
    assert table.schema == {"customer": pl.Int64, "kind": pl.String}
    assert table.rows() == [(2, "order")]


def test_records_are_printed_by_a_sink_without_a_name(capfd: pytest.CaptureFixture[str]) -> None:
    Source.of([("a", 1)]).write(Sink.print()).run("memory")
    assert capfd.readouterr().out.splitlines() == ['+{"key":"a","value":1}']


def test_frames_that_nobody_awaits_say_how_they_are_read() -> None:
    with pytest.raises(ValueError, match="loop over them, or `await` them in an `async def`"):
        asyncio.run(Source.of([1]).tables("memory"))  # type: ignore[arg-type]


@pytest.mark.parametrize("verb", ["table", "memory", "run", "show"])
def test_what_is_no_coroutine_is_not_awaited(verb: str) -> None:
    stream = Source.of([("a", 1)])

    async def await_it() -> None:
        if verb == "table":
            await stream.table(
                "memory",
            )  # type: ignore[misc]
        elif verb == "memory":
            await stream.memory()  # type: ignore[misc]
        elif verb == "run":
            await stream.write(Sink.print()).run(engine="memory")  # type: ignore[misc]
        else:
            await stream.show()  # type: ignore[func-returns-value]

    with pytest.raises(
        QueryError, match=rf"^{verb}\(\) is over when it returns.* await asyncio.to_thread\(stream.{verb}\)$"
    ):
        asyncio.run(await_it())


def test_a_stream_runs_beside_what_is_awaited() -> None:
    async def read() -> tuple[int, int]:
        stream = Source.of([("a", 1)])
        found = stream.table("memory")
        await asyncio.to_thread(stream.memory)
        return found.height, (await asyncio.to_thread(stream.table, "memory")).height

    assert asyncio.run(read()) == (1, 1)


def test_a_function_that_only_raises_or_gives_none_now_and_then_is_taken() -> None:
    def known(number: int) -> str | None:
        if number > 1:
            return "many"
        return None

    def large(number: int) -> int | None:
        return number if number > 1 else None

    assert Source.of([1, 2]).option_map(known).memory() == ["many"]
    assert Source.of([1, 2]).option_map(large).memory() == [2]
    assert Source.of([1, 2]).filter(lambda number: None).memory() == []


@dataclass
class Counted:
    """What a file of numbers holds."""

    name: str
    n: int


def test_a_bad_record_of_a_source_names_its_option_as_programs_spell_it(tmp_path: Path) -> None:
    (tmp_path / "numbers.csv").write_text("name,n\na,1\nb,n/a\n")
    with pytest.raises(OuzelError) as caught:
        Source.file(tmp_path / "numbers.csv", Counted, format="csv").table("memory")
    assert str(caught.value).endswith(
        "\nif 'n/a' stands for NULL, the source's option csv_null='n/a' reads it so; otherwise "
        "the source's option bad_record='skip', or 'dead-letter' with dead_letter_path='path', goes on without such records"
    )
    left = Source.file(tmp_path / "numbers.csv", Counted, format="csv", bad_record="skip").table("memory")
    assert left.rows() == [("a", 1)]


def test_a_fraction_is_told_of_its_type_as_programs_spell_it(tmp_path: Path) -> None:
    (tmp_path / "numbers.csv").write_text("name,n\na,1.25\n")
    with pytest.raises(
        OuzelError, match=r"declare n: Annotated\[Decimal, 'DECIMAL\(18, 2\)'\], which takes it; otherwise"
    ):
        Source.file(tmp_path / "numbers.csv", Counted, format="csv").table("memory")
