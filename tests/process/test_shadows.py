"""Python files beside the data are data: none is run, whichever way Ouzel is started, for they may bear any module's name."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

NAMES = (
    "json",
    "grpc",
    "polars",
    "numba",
    "scipy",
    "random",
    "secrets",
    "pickle",
    "site",
    "pyspark",
    "ouzel",
    "sitecustomize",
)
SQL = """
CREATE TABLE numbers (n BIGINT) WITH ('connector' = 'file', 'path' = 'in.json', 'format' = 'json');
SELECT SUM(n) AS total FROM numbers;
"""
CONSOLE_SCRIPT = "import sys; from ouzel.__main__ import main; sys.exit(main())"
WAYS = {"script": ["-P", "-c", CONSOLE_SCRIPT], "module": ["-m", "ouzel"]}


@pytest.fixture
def shadowed(tmp_path: Path) -> Path:
    (tmp_path / "in.json").write_text('{"n": 40}\n{"n": 2}\n')
    (tmp_path / "query.sql").write_text(SQL)
    for name in NAMES:
        (tmp_path / f"{name}.py").write_text(f"open('ran-{name}', 'w').close()\nraise SystemExit(77)\n")
    return tmp_path


def answer(directory: Path, *command: str) -> tuple[str, list[str]]:
    ran = subprocess.run([sys.executable, *command], cwd=directory, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout, [path.name for path in directory.glob("ran-*")]


@pytest.mark.server
@pytest.mark.parametrize("way", WAYS)
def test_modules_beside_the_data_are_not_imported(shadowed: Path, way: str) -> None:
    if way == "module":
        (shadowed / "ouzel.py").unlink()  # `python -m ouzel` asks for whatever bears that name
    text, ran = answer(shadowed, *WAYS[way], "run", "query.sql", "--format", "csv")
    assert (text.split(), ran) == (["total", "42"], [])


@pytest.mark.spark
def test_nor_by_sparks_workers(shadowed: Path) -> None:
    text, ran = answer(shadowed, *WAYS["script"], "batch", "query.sql", "--format", "csv")
    assert (text.split(), ran) == (["total", "42"], [])


@pytest.mark.server
def test_modules_of_a_program_are_found_by_its_bolts(tmp_path: Path) -> None:
    (tmp_path / "lines.py").write_text("def twice(n):\n    return 2 * n\n")
    (tmp_path / "job.py").write_text(
        "import lines, ouzel\n"
        "class Numbers(ouzel.RowSpout):\n"
        "    fields = ('n',)\n"
        "    def open(self, context):\n"
        "        self.left = iter(range(3))\n"
        "    def next_row(self):\n"
        "        n = next(self.left, None)\n"
        "        return None if n is None else (lines.twice(n),)\n"
        "builder = ouzel.TopologyBuilder('twice')\n"
        "builder.set_spout('numbers', Numbers(), ouzel.schema(n=int))\n"
        "if __name__ == '__main__':\n"
        "    print(ouzel.table(builder.build(), of='numbers').rows())\n"
    )
    text, _ = answer(tmp_path, "job.py")
    assert text.strip() == "[(0,), (2,), (4,)]"
