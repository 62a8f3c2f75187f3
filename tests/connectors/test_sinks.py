"""The table of connectors, and the small ones: memory, print, blackhole, result."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

from doc_sources.glossary import unlinked
from ouzel.connectors import CONNECTORS, open_sink, open_source
from ouzel.connectors.formats import FORMATS
from ouzel.connectors.memory import TABLES, MemoryTable
from ouzel.connectors.options import list_options
from ouzel.connectors.reading import ReadBatch, SourceRequest
from ouzel.connectors.writing import SinkRequest
from ouzel.errors import ConnectorError

COLUMNS: dict[str, pl.DataType] = {"id": pl.Int64(), "word": pl.String()}
CHANGES = pl.DataFrame({"id": [1, 2], "word": ["a", "b"], "$weight": [2, -1]})


@pytest.fixture(autouse=True)
def _no_tables() -> Iterator[None]:
    TABLES.clear()
    yield
    TABLES.clear()


def sink(connector: str, /, directory: Path = Path("."), mode: str = "retract", **options: str):  # type: ignore[no-untyped-def]
    return open_sink(connector, SinkRequest("t", options, COLUMNS, mode, directory))


def test_memory_gives_what_was_put_in() -> None:
    TABLES["t"] = MemoryTable(pl.DataFrame({"word": ["a", "b", "c"], "id": [1, 2, 3]}))
    source = open_source(
        "memory", SourceRequest("t", {"partitions": "2"}, {**COLUMNS, "n": pl.Int64()}, Path("."), {"n": "row"})
    )
    readers = [source.reader(part, None) for part in source.partitions()]
    batches = [reader.read(10) for reader in readers]
    assert [batch.frame.rows() for batch in batches if isinstance(batch, ReadBatch)] == [
        [(1, "a", 1), (3, "c", 3)],
        [(2, "b", 2)],
    ]


def test_memory_keeps_a_batch_that_comes_again_once() -> None:
    writer = sink("memory", name="other")
    for _ in range(2):
        writer.write(7, CHANGES)
    assert TABLES["other"].result().rows() == CHANGES.rows()


def test_a_folder_of_parts_takes_no_files_place(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("id,word\n")
    with pytest.raises(
        ConnectorError,
        match=r"in\.csv: that is a file, and a table is written as parts in a folder; name another 'path'",
    ):
        sink("file", tmp_path, "append", path="in.csv", format="csv")


def test_memory_names_a_table_that_is_not_there() -> None:
    with pytest.raises(ConnectorError, match=r"there is no table 't' in memory\.TABLES"):
        open_source("memory", SourceRequest("t", {}, COLUMNS, Path(".")))


def test_print_writes_a_line_for_each_change(tmp_path: Path) -> None:
    writer = sink("print", tmp_path, path="out.txt", prefix="> ")
    writer.write(1, CHANGES)
    writer.flush()
    writer.close()
    one, two = '> +{"id":1,"word":"a"}\n', '> -{"id":2,"word":"b"}\n'
    assert (tmp_path / "out.txt").read_text() == one + one + two


@pytest.mark.parametrize("becomes", ["rotated", "deleted"])
def test_print_goes_on_under_the_name_that_it_was_given(becomes: str, tmp_path: Path) -> None:
    """A descriptor that stays open writes to a file that nobody finds."""
    writer, path = sink("print", tmp_path, path="out.txt"), tmp_path / "out.txt"
    writer.write(1, CHANGES)
    writer.flush()
    lines = path.read_text()
    path.rename(tmp_path / "out.txt.1") if becomes == "rotated" else path.unlink()
    writer.write(2, CHANGES)
    writer.flush()
    writer.close()
    assert path.read_text() == lines


def test_print_names_a_file_that_takes_no_more() -> None:
    writer = sink("print", path="/dev/full")
    writer.write(1, pl.concat([CHANGES] * 10_000))
    with pytest.raises(ConnectorError, match="table 't' cannot be printed to /dev/full: No space left on device"):
        writer.flush()
    writer.close()


def test_print_to_standard_output(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    writer = sink("print", mode="append")
    writer.write(1, CHANGES.drop("$weight"))
    writer.flush()
    writer.close()
    assert not sys.stdout.closed


def test_print_names_a_file_it_cannot_write(tmp_path: Path) -> None:
    with pytest.raises(ConnectorError, match=r"table 't' cannot be printed to .*/nowhere/x: No such file or directory"):
        sink("print", tmp_path, path="nowhere/x")


def test_blackhole_counts() -> None:
    writer = sink("blackhole")
    writer.write(1, CHANGES)
    assert writer.rows == 2


@pytest.mark.parametrize("name", ["blackhole", "print", "result"])
def test_what_cannot_be_read_says_so(name: str) -> None:
    with pytest.raises(ConnectorError, match=f"the connector '{name}' of table 't' cannot be read"):
        open_source(name, SourceRequest("t", {}, COLUMNS, Path(".")))


def test_a_lacking_extra_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("ouzel.connectors.kafka.source", "ouzel.connectors.kafka.reader", "ouzel.connectors.kafka.client"):
        monkeypatch.delitem(sys.modules, module, raising=False)
    monkeypatch.setitem(sys.modules, "confluent_kafka", None)
    with pytest.raises(ConnectorError, match=r'install it with: pip install "ouzel\[kafka\]"'):
        open_source("kafka", SourceRequest("t", {}, COLUMNS, Path(".")))


def test_every_connector_and_option_is_documented() -> None:
    page = unlinked((Path(__file__).parents[2] / "docs" / "connectors.md").read_text())
    for connector in CONNECTORS.values():
        section = page.partition(f"### {connector.name}\n")[2].partition("\n### ")[0]
        assert connector.doc in section, f"docs/connectors.md lacks '{connector.name}'; run `make docs`"
        for option in connector.options:
            assert f"`{option.name}`" in section, (
                f"docs/connectors.md lacks '{option.name}' of '{connector.name}'; run `make docs`"
            )
    for form in FORMATS.values():
        for option in list_options(CONNECTORS["file"], {"format": form.name}):
            assert f"`{option.name}`" in page, f"docs/connectors.md lacks '{option.name}'; run `make docs`"
