"""A record that cannot be read: the message says how its value is read, and what it says is tried."""

from __future__ import annotations

import re
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace

import pytest

from ouzel import entry
from ouzel.connectors.dead_letters import RefusedRecord
from ouzel.connectors.misfits import find_day_patterns
from ouzel.errors import TopologyError
from ouzel.runtime.run import RunState
from ouzel.runtime.tasks.unread import advise_of_unread
from ouzel.session import load_text, start

GOES_ON = "; otherwise the table's option 'bad.record' = 'skip' or 'dead-letter' goes on without such records"


def failure(directory: Path, kind: str, texts: list[str], options: str = "") -> str:
    """The last line of how the run ends that reads these texts as values of this type."""
    (directory / "t.csv").write_text("n,x\n" + "".join(f'{n},"{text}"\n' for n, text in enumerate(texts)))
    handle = start(load_text(table(kind, options) + "SELECT n, x FROM t;", directory, "t"), "memory")
    while not handle.wait(1):
        pass
    status = handle.stop()
    assert status.state is RunState.FAILED
    return status.reason.splitlines()[-1]


def table(kind: str, options: str = "") -> str:
    """Its statement."""
    return (
        f"CREATE TABLE t (n INT, x {kind}) WITH ('connector' = 'file', 'path' = 't.csv', 'format' = 'csv'{options});\n"
    )


@pytest.mark.parametrize(
    ("kind", "texts", "told", "values"),
    [
        ("BOOLEAN", ["yes", "no"], "CAST(x AS BOOLEAN)", "true, false"),
        ("BOOLEAN", ["on", "off"], "x = 'on'", "true, false"),
        ("DECIMAL(10, 2)", ["$20.00", "$1,235.50"], "CAST(REGEXP_REPLACE(x, '[^0-9.-]', '') AS DECIMAL(10, 2))", "20.00, 1235.50"),
        ("DOUBLE", ["1,50", "2,25"], "CAST(REPLACE(x, ',', '.') AS DOUBLE)", "1.5, 2.25"),
        ("INT", ["1.234.567", "2.345.678"], "CAST(REPLACE(x, '.', '') AS INT)", "1234567, 2345678"),
        ("DATE", ["03/04/2026", "21/04/2026"], "TO_DATE(x, 'dd/MM/yyyy')", "2026-04-03, 2026-04-21"),
        ("DATE", ["03.04.2026", "04.04.2026"], "TO_DATE(x, 'dd.MM.yyyy')", "2026-04-03, 2026-04-04"),
        ("DATE", ["20260403", "20260404"], "TO_DATE(x, 'yyyyMMdd')", "2026-04-03, 2026-04-04"),
        (
            "DATE",
            ["4/21/2026", "4/3/2026"],
            r"CAST(REGEXP_REPLACE(x, '^(\d{1,2})/(\d{1,2})/(\d{4})$', '$3-$1-$2') AS DATE)",
            "2026-04-21, 2026-04-03",
        ),
        (
            "TIMESTAMP(3)",
            ["13/04/2026 10:15", "03/04/2026 10:15"],
            "TO_TIMESTAMP(x, 'dd/MM/yyyy HH:mm')",
            "2026-04-13 10:15:00, 2026-04-03 10:15:00",
        ),
    ],
)  # fmt: skip
def test_what_is_said_reads_the_values(tmp_path: Path, kind: str, texts: list[str], told: str, values: str) -> None:
    advice = failure(tmp_path, kind, texts)
    assert advice.partition(", for ")[0] == f"declare x VARCHAR, and in the query write {told}"
    assert "otherwise" not in advice, "no record can be read, so that nothing goes on without those"
    rows = entry.table(load_text(table("VARCHAR") + f"SELECT n, {told} AS x FROM t;", tmp_path, "t"), "memory").rows()
    assert ", ".join(str(value).lower() for _, value in sorted(rows)) == values


def test_where_some_are_read_the_others_may_be_left_out(tmp_path: Path) -> None:
    assert failure(tmp_path, "BOOLEAN", ["true", "no"]).endswith(GOES_ON)
    assert failure(tmp_path, "DATE", ["2026-02-30"]) == GOES_ON.removeprefix("; otherwise ")


def test_an_order_that_nothing_shows_is_left_to_the_reader(tmp_path: Path) -> None:
    two = "TO_DATE(x, 'dd/MM/yyyy'), or TO_DATE(x, 'MM/dd/yyyy') if the month is first"
    assert failure(tmp_path, "DATE", ["03/04/2026"] * 2) == f"declare x VARCHAR, and in the query write {two}"


@pytest.mark.parametrize(
    ("texts", "patterns"),
    [
        (["2026/04/03"], ["yyyy/MM/dd"]),
        (["03/04/2026T1:15:00"], ["dd/MM/yyyy'T'H:mm:ss", "MM/dd/yyyy'T'H:mm:ss"]),
        (["2026-02-30"], []),
        (["31/02/2026"], []),
        (["03/04/2026", "03.04.2026"], []),
        (["03/04/2026", "never"], []),
        (["3/14/2026", "14/3/2026"], []),
    ],
)
def test_the_pattern_of_days(texts: list[str], patterns: list[str]) -> None:
    assert find_day_patterns(texts) == patterns


@pytest.mark.parametrize(
    ("null", "told"),
    [
        (
            "n/a,NULL",
            "'csv.null' is one text and no list, so leave it out; declare x VARCHAR, and in the query write "
            "CAST(NULLIF(NULLIF(x, 'n/a'), 'NULL') AS INT)",
        ),
        (
            "n/a",
            "'csv.null' is 'n/a' already, and it is one text; declare x VARCHAR, and in the query write CAST(NULLIF(x, 'NULL') AS INT)",
        ),
        ("", "if 'NULL' stands for NULL, the table's option 'csv.null' = 'NULL' reads it so"),
    ],
)
def test_a_second_word_for_null_is_read_in_the_query(tmp_path: Path, null: str, told: str) -> None:
    option = f", 'csv.null' = '{null}'"
    texts = ["1", "NULL", *(["n/a"] if null else [])]
    assert failure(tmp_path, "INT", texts, option) == told + GOES_ON
    cast = re.search(r"CAST\(.*\)$", told)
    if cast:
        options = "" if "leave it out" in told else option
        read = load_text(table("VARCHAR", options) + f"SELECT n, {cast[0]} AS x FROM t;", tmp_path, "t")
        assert sorted(entry.table(read, "memory").rows()) == [(0, 1), (1, None), (2, None)]


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        ("BOOLEAN", "yes", True),
        ("DECIMAL(10, 2)", "$1,235.50", Decimal("1235.50")),
        ("DECIMAL(10, 2)", "1.235,50", Decimal("1235.50")),
        ("DATE", "23/04/2026", date(2026, 4, 23)),
        ("TIMESTAMP", "23/04/2026 10:15", datetime(2026, 4, 23, 10, 15)),
    ],
)
def test_a_program_is_told_in_python(kind: str, text: str, value: object) -> None:
    bad = [RefusedRecord("t.csv:2", f"'{text}' does not fit column 'x' of type {kind}", f"1,{text}")] * 2
    told, _, call = advise_of_unread(bad, 0, in_python=True, null="").partition(" write ")
    assert told == "declare x: str, and in a step"
    names = {"record": SimpleNamespace(x=text), "Decimal": Decimal, "datetime": datetime, "re": re}
    assert eval(call.partition(", for ")[0], names) == value


def test_an_array_is_read_by_its_option(tmp_path: Path) -> None:
    (tmp_path / "t.json").write_text('[{"n": 1},\n {"n": 2}]\n')
    query = (
        "CREATE TABLE t (n INT) WITH ('connector' = 'file', 'path' = 't.json', 'format' = 'json'{}); SELECT n FROM t;"
    )
    with pytest.raises(TopologyError) as caught:
        entry.table(load_text(query.format(""), tmp_path, "t"), "memory")
    option = "'json.array' = 'true'"
    assert f"the option {option} reads a file that is one array" in str(caught.value)
    assert entry.table(load_text(query.format(f", {option}"), tmp_path, "t"), "memory").height == 2
