"""First lines that were written for another reader: the message has the command or the query that reads the file, and both are tried."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from ouzel import entry
from ouzel.errors import OuzelError
from ouzel.job import load_text

DECLARED = "CREATE TABLE t (id INT, city VARCHAR) WITH ('connector' = 'file', 'path' = 't.{0}', 'format' = '{0}'{1});\n"
QUERIES = ["SELECT id, city FROM 't.{0}';", DECLARED + "SELECT id, city FROM t;"]


def rows(query: str, directory: Path) -> list[tuple[object, ...]]:
    """What it answers."""
    return sorted(entry.table(load_text(query, directory, "q"), "memory").rows())


def told(query: str, directory: Path) -> str:
    """What is said of it."""
    with pytest.raises(OuzelError) as caught:
        rows(query, directory)
    return str(caught.value)


def do(advice: str, directory: Path, made: str) -> None:
    """Run the command that the advice has, and put what it makes in the place of what it was made of."""
    command = re.search("`(.*?)`", advice)
    assert command
    subprocess.run(command[1], shell=True, check=True)
    (directory / made).replace(directory / re.sub(r"\.\w+\.", ".", made))


@pytest.mark.parametrize("query", QUERIES, ids=["by its path", "declared"])
@pytest.mark.parametrize("sign", [";", ",", "\t"])
def test_the_line_for_excel_is_taken_out(tmp_path: Path, query: str, sign: str) -> None:
    (tmp_path / "t.csv").write_text(f"sep={sign}\nid;city\n1;Berlin\n".replace(";", sign))
    said = told(query.format("csv", ""), tmp_path)
    assert "t.csv, sep={}, is for Excel and names no columns; take it out".format(sign.replace("\t", "\\t")) in said
    option = re.search("'csv.delimiter' = '.*?'", said)
    assert bool(option) == ("CREATE" in query and sign != ",")
    do(said, tmp_path, "t.lines.csv")
    assert rows(query.format("csv", f", {option[0]}" if option else ""), tmp_path) == [(1, "Berlin")]


def test_blanks_behind_the_commas_are_taken_out_or_trimmed(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("id, city, n\n1, Berlin, 2\n")
    query = QUERIES[1].format("csv", "")
    said = told(query, tmp_path)
    assert "' city' begins with a blank there, and so, likely, does each value" in said
    trimmed = query.replace("city VARCHAR", '" city" VARCHAR').replace("id, city", 'id, TRIM(" city") AS city')
    assert '" city" VARCHAR and write TRIM(" city")' in said
    assert rows(trimmed, tmp_path) == [(1, "Berlin")]
    do(said, tmp_path, "t.trimmed.csv")
    assert rows(query, tmp_path) == [(1, "Berlin")]


@pytest.mark.parametrize("query", QUERIES, ids=["by its path", "declared"])
@pytest.mark.parametrize(
    "text",
    ['{\n  "id": 1,\n  "city": "Berlin"\n}\n{\n  "id": 2\n}\n', '{"id": 1,\n "city": "Berlin"}\n{"id": 2}\n'],
    ids=["alone", "beside others"],
)
def test_objects_over_several_lines_are_written_one_a_line(tmp_path: Path, query: str, text: str) -> None:
    (tmp_path / "t.json").write_text(text)
    said = told(query.format("json", ""), tmp_path)
    assert " writes one object a line" in said
    assert "Expecting" not in said
    do(said, tmp_path, "t.lines.json")
    assert rows(query.format("json", ""), tmp_path) == [(1, "Berlin"), (2, None)]
