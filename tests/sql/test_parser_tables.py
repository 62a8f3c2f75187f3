"""The tables of the parser of statements are kept beside the bytecode; what is kept there may be missing, damaged or unwritable."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ouzel.compiler.sql.syntax import shells
from ouzel.compiler.sql.syntax.source import QueryText
from ouzel.errors import QueryError

TEXT = "CREATE TABLE t (a INT NOT NULL, WATERMARK FOR a AS a - 1) WITH ('connector' = 'file', 'path' = 'x')"


@pytest.fixture
def tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where the tables are kept instead; the process's own parser is back afterwards."""
    path = tmp_path / "tables"
    monkeypatch.setattr(shells, "_tables_path", lambda: str(path))
    shells._parser.cache_clear()
    yield path
    shells._parser.cache_clear()


def statement(text: str = TEXT) -> str:
    source = QueryText(text)
    return repr(shells.read_statement(source, source.tokens()))


def test_a_parser_whose_tables_were_kept_reads_and_refuses_as_one_that_was_built(tables: Path) -> None:
    def told() -> tuple[str, str]:
        shells._parser.cache_clear()
        with pytest.raises(QueryError) as refused:
            statement("CREATE TABLE t (a INT NOT) WITH ('connector' = 'file')")
        return statement(), str(refused.value)

    built = told()
    kept = tables.read_bytes()
    assert told() == built
    assert tables.read_bytes() == kept


def test_damaged_tables_are_built_again(tables: Path) -> None:
    expected = statement()
    whole = tables.read_bytes()
    for damaged in (b"", whole[: len(whole) // 2], b"of another grammar\n" + whole.partition(b"\n")[2]):
        tables.write_bytes(damaged)
        shells._parser.cache_clear()
        assert statement() == expected
        assert tables.read_bytes() != damaged
        assert tables.read_bytes().partition(b"\n")[0] == whole.partition(b"\n")[0]


def test_where_no_bytecode_is_kept_neither_are_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shells, "_GRAMMAR", tmp_path / "nowhere" / "statements.lark")
    monkeypatch.setattr("sys.dont_write_bytecode", False)
    assert shells._tables_path() is None
    (tmp_path / "nowhere" / "__pycache__").mkdir(parents=True)
    assert shells._tables_path()
    monkeypatch.setattr("sys.dont_write_bytecode", True)
    assert shells._tables_path() is None
