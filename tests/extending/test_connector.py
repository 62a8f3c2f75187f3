"""A connector of another package is one file: it runs on every engine, or is refused with its reason."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from ouzel.cli.main import app
from ouzel.connectors import CONNECTORS
from ouzel.errors import QueryError
from ouzel.session import load_text

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FILE = Path(__file__).parent / "toy_connector.py"
QUERY = """CREATE TABLE numbers (n BIGINT) WITH ('connector' = 'toy', 'rows' = '6');
CREATE TABLE lines (n BIGINT) WITH ('connector' = 'toy', 'path' = 'lines.txt');
INSERT INTO lines SELECT n * 10 FROM numbers WHERE n > 3;
"""


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with the package, as pip would install it."""
    package = tmp_path / "site"
    known = package / "toy-1.0.dist-info"
    known.mkdir(parents=True)
    shutil.copy(FILE, package)
    (known / "METADATA").write_text("Metadata-Version: 2.1\nName: toy\nVersion: 1.0\n")
    (known / "entry_points.txt").write_text("[ouzel.connectors]\ntoy = toy_connector:CONNECTOR\n")
    monkeypatch.syspath_prepend(str(package))
    yield package
    CONNECTORS.pop("toy", None)


def ouzel(toy: Path, *arguments: str) -> str:
    """What the command says; the table is written to lines.txt."""
    done = subprocess.run(
        [sys.executable, "-m", "ouzel", *arguments],
        cwd=toy.parent,
        env={**os.environ, "PYTHONPATH": str(toy)},
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("engine", ["memory", pytest.param("heron", marks=pytest.mark.server)])
def test_a_connector_in_one_file_runs_on_every_engine(toy: Path, engine: str) -> None:
    (toy.parent / "query.sql").write_text(QUERY)
    ouzel(toy, "run", "query.sql", "--engine", engine)
    assert sorted((toy.parent / "lines.txt").read_text().split()) == ["(40,)", "(50,)"]


@pytest.mark.parametrize("arguments", [("run", "--engine", "spark"), ("batch",)], ids=["streaming", "batch"])
def test_and_on_spark(
    toy: Path, arguments: tuple[str, ...], spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command finds a session that runs already, whose workers are new processes and are told where the package is, as all are."""
    monkeypatch.setitem(spark.sparkContext.environment, "PYTHONPATH", str(toy))
    monkeypatch.setattr("ouzel.spark.session.start_spark", lambda *_: spark)
    monkeypatch.setattr("ouzel.spark.streaming.run.start_spark", lambda *_: spark)
    monkeypatch.setattr(type(spark), "stop", lambda self: None)
    query = toy.parent / "query.sql"
    query.write_text(QUERY)
    done = CliRunner().invoke(app, [arguments[0], str(query), *arguments[1:]])
    assert done.exit_code == 0, done.stderr
    assert sorted((toy.parent / "lines.txt").read_text().split()) == ["(40,)", "(50,)"]


def test_what_its_row_does_not_take_is_refused(toy: Path) -> None:
    counted = QUERY.replace("SELECT n * 10 FROM numbers WHERE n > 3", "SELECT COUNT(*) FROM numbers")
    with pytest.raises(QueryError, match=r"lines \(toy\) only takes new rows"):
        load_text(counted, toy.parent, "query")
