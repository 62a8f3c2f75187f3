"""What is NULL in CSV, what is an empty text, and how a header's names find their columns."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ouzel import entry
from ouzel.connectors.formats import open_decoder, open_encoder
from ouzel.connectors.formats.base import Records
from ouzel.connectors.formats.csv.format import CsvDecoder
from ouzel.connectors.misfits import find_decimal, find_null_word
from ouzel.errors import ConnectorError, OuzelError
from ouzel.job import load_text

COLUMNS = {"t": pl.String(), "n": pl.Int32()}


def decode(lines: list[bytes], **options: str) -> list[tuple[object, ...]]:
    """The rows of these records, of which none is bad."""
    given_options = {"csv.columns": "t,n", **{f"csv.{name}": value for name, value in options.items()}}
    decoded = open_decoder("csv", given_options, COLUMNS).decode(Records.of(lines))
    assert not decoded.bad, decoded.bad
    return decoded.frame.rows()


ODD = b'x"y,1'
"""A record that is looked at by itself."""


@pytest.mark.parametrize("beside", [[], [ODD, b'a"b,']], ids=["at once", "one by one"])
def test_a_quoted_empty_text_is_no_null(beside: list[bytes]) -> None:
    rows = decode([b'"",1', b",2", b'a,""', b"b,", *beside])
    assert rows[:4] == [("", 1), (None, 2), ("a", None), ("b", None)]


def test_each_record_by_itself_says_the_same() -> None:
    assert decode([b'a"b,1', b'"",1']) == [('a"b', 1), ("", 1)]
    assert decode([b'a"b,', b',""']) == [('a"b', None), (None, None)]


@pytest.mark.parametrize("beside", [[], [ODD]], ids=["at once", "one by one"])
def test_a_word_for_null_leaves_empty_texts(beside: list[bytes]) -> None:
    rows = decode([b'"",1', b",2", rb"\N,\N", rb'"\N",""', b"a,", *beside], null="\\N")
    assert rows[:5] == [("", 1), ("", 2), (None, None), (None, None), ("a", None)]


@settings(deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(st.tuples(st.none() | st.sampled_from(["", '"', " ", "a"]), st.none() | st.integers(0, 9)), max_size=9))
def test_the_sink_and_the_reader_agree(rows: list[tuple[str | None, int | None]]) -> None:
    frame = pl.DataFrame(rows, schema=COLUMNS, orient="row")
    assert decode(open_encoder("csv", {}, COLUMNS).encode(frame)) == rows


def test_null_alone_on_a_line_is_refused_and_not_lost() -> None:
    frame = pl.DataFrame({"t": ["a", None]})
    with pytest.raises(ConnectorError, match=r"NULL in 't', the one column, .* 'csv.null' = '\\N'"):
        open_encoder("csv", {}, frame.schema).lines(frame)
    assert open_encoder("csv", {"csv.null": "\\N"}, frame.schema).lines(frame) == b"a\n\\N\n"
    assert open_encoder("csv", {}, frame.schema).lines(pl.DataFrame({"t": ["a", ""]})) == b'a\n""\n'


def headed(header: bytes, *lines: bytes) -> list[tuple[object, ...]]:
    """The rows of a file with this header."""
    decoder = CsvDecoder({}, COLUMNS, frozenset())
    decoder.name_fields(header, "f.csv")
    return decoder.decode(Records.of(list(lines))).frame.rows()


def test_a_header_names_fields_in_any_order_and_case() -> None:
    assert headed(b"N,T", b"1,a") == [("a", 1)]


def test_a_name_that_comes_twice_matters_where_it_is_asked_for() -> None:
    assert headed(b"x,t,x,n", b"0,a,0,1") == [("a", 1)]
    with pytest.raises(ConnectorError, match=r"the header of f\.csv names 'T' twice"):
        headed(b"t,T,n")


@pytest.mark.parametrize(
    ("reason", "raw", "word"),
    [
        ("'n/a' does not fit column 'n' of type INT", "1,n/a", "n/a"),
        ("'\\N' does not fit column 'n' of type INT", "1,\\N", "\\N"),
        ("'-' does not fit column 'n' of type INT", "1,-", "-"),
        ("'abc' does not fit column 'n' of type INT", "1,abc", ""),
        ("'n/a' does not fit column 'n' of type INT", '{"n": "n/a"}', ""),  # 'csv.null' is no option of JSON
        ("1 field is missing", "-", ""),
    ],
)
def test_a_word_that_may_stand_for_null_is_found_in_a_bad_record(reason: str, raw: str, word: str) -> None:
    assert find_null_word(reason, raw) == word


@pytest.mark.parametrize(
    ("reason", "declared"),
    [
        ("'20.00' does not fit column 'amount' of type INT", ("amount", "DECIMAL(18, 2)")),
        ("-1.5 does not fit column 'n' of type BIGINT", ("n", "DECIMAL(18, 1)")),
        ("'20.00' does not fit column 'amount' of type DECIMAL(3, 2)", None),
        ("'2.x' does not fit column 'n' of type INT", None),
    ],
)
def test_a_fraction_in_a_column_of_whole_numbers_is_told_of_its_type(
    reason: str, declared: tuple[str, str] | None
) -> None:
    assert find_decimal(reason) == declared


@pytest.mark.parametrize(
    ("written", "replaced"),
    [
        ("1,50", "REPLACE(price, ',', '.')"),
        ("1.234,50", "REPLACE(REPLACE(price, '.', ''), ',', '.')"),
        ("1,234.50", "REPLACE(price, ',', '')"),
        ("1'234.50", "REPLACE(price, '''', '')"),
    ],
)
def test_a_number_with_other_signs_is_told_the_expression_that_reads_it(
    tmp_path: Path, written: str, replaced: str
) -> None:
    (tmp_path / "a.csv").write_text(f"id;price\n1;{written}\n")
    table = "CREATE TABLE t (id INT, price {}) WITH ('connector' = 'file', 'path' = 'a.csv', 'format' = 'csv', 'csv.delimiter' = ';');"
    expression = f"CAST({replaced} AS DECIMAL(10, 2))"
    with pytest.raises(OuzelError) as caught:
        entry.table(load_text(table.format("DECIMAL(10, 2)") + "SELECT price FROM t;", tmp_path, "q"), "memory")
    assert f"declare price VARCHAR, and in the query write {expression}, for {written} has " in str(caught.value)
    read = entry.table(load_text(f"{table.format('VARCHAR')}SELECT {expression} AS p FROM t;", tmp_path, "q"), "memory")
    assert str(read.rows()[0][0]) == ("1.50" if written == "1,50" else "1234.50")


def test_a_file_that_is_not_utf8_is_told_how_it_becomes_so(tmp_path: Path) -> None:
    path = tmp_path / "a b.csv"
    path.write_bytes("id,city\n1,Z\xfcrich\n".encode("latin1"))
    with pytest.raises(OuzelError) as caught:
        entry.table(load_text("SELECT city FROM 'a b.csv';", tmp_path, "q"), "memory")
    command = f"iconv -f latin1 -t utf-8 '{path}' > '{tmp_path}/a b.utf8.csv'"
    assert f"if the file is Latin-1, `{command}` makes one of UTF-8" in str(caught.value)
