"""A type checker knows the records along a chain: it accepts what is right and points at what is wrong."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

mypy = pytest.importorskip("mypy.api")

FOLDER = Path(__file__).parent

CONFIG = """[mypy]
strict = True
[mypy-duckdb.*,google.*,grpc.*,IPython.*,lark.*,matplotlib.*,numba.*,numpy.*,pandas.*,polars.*,pyarrow.*,pyspark.*,sqlglot.*]
follow_imports = skip
"""
"""What stands in no signature of a chain is not read, which would take twice as long as all the rest."""


def complaints(folder: Path, *names: str) -> list[dict[int, str]]:
    """What mypy says of each file first, by line; what it writes goes into the folder."""
    (folder / "mypy.ini").write_text(CONFIG)
    config = [f"--config-file={folder / 'mypy.ini'}", f"--cache-dir={folder}"]
    options = [*config, "--no-error-summary", "--hide-error-context", "--no-pretty"]
    out, _, _ = mypy.run([*(str(FOLDER / name) for name in names), *options])
    found = (re.findall(rf"{re.escape(name)}:(\d+): error: (.*)", out) for name in names)
    return [{int(line): text for line, text in reversed(each)} for each in found]


@pytest.mark.slow
def test_a_type_checker_accepts_what_is_right_and_refuses_what_is_wrong(tmp_path: Path) -> None:
    right, found = complaints(tmp_path, "typed_right.py", "typed_wrong.py")
    assert right == {}
    lines = (FOLDER / "typed_wrong.py").read_text().splitlines()
    expected = {number: line.partition("# error: ")[2] for number, line in enumerate(lines, 1) if "# error: " in line}
    assert found.keys() == expected.keys()
    assert all(text in found[line] for line, text in expected.items()), found
