"""The blocks of docs/managed-spark.md, run: a job as a wheel with an entry point, in cells of a notebook, as a client of Spark Connect.

Jobs by spark-submit and on a cluster: test_jobs.py, test_cluster.py.
"""

from __future__ import annotations

import shlex
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import nbclient
import nbformat
import pyspark
import pytest

from ouzel.session import load
from ouzel.spark.batch.run import batch_run
from tests.house.test_docs import blocks
from tests.servers.process import free_port
from tests.servers.waiting import is_reached
from tests.spark.batch.plain import LIMIT_S, SETTINGS, PlainPython

pytestmark = [pytest.mark.spark, pytest.mark.server, pytest.mark.slow, pytest.mark.timeout(LIMIT_S)]

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "managed-spark.md"
PROJECT = blocks(PAGE, "toml")[0]
CELL, CLIENT = blocks(PAGE, "python")
COUNTED = ("|be  |2|", "|not |1|", "|or  |1|", "|to  |2|")
START_S = 240.0

CONF = [part for each in SETTINGS for part in ("--conf", each)]
SHELL = shlex.join(["--master", "local[1]", *CONF, "pyspark-shell"])
"""What a Python that makes a session starts the JVM with."""


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the job, what it is packed with, and the lines that it counts the words of."""
    folder = tmp_path_factory.mktemp("lake")
    (folder / "data").mkdir()
    (folder / "data/announcements.txt").write_text("to be or\nnot to be\n")
    (folder / "words_job.py").write_text(batch_run(load(ROOT / "sql_examples/word_count.sql")).text())
    (folder / "pyproject.toml").write_text(PROJECT)
    return folder


def in_lake(block: str, lake: Path) -> str:
    """A block of the page whose paths are those of the test."""
    assert '"/lake"' in block
    return block.replace('"/lake"', repr(str(lake)))


def has_counted(printed: str) -> bool:
    """Whether this is a table of the words."""
    squeezed = printed.replace(" ", "")
    return all(row.replace(" ", "") in squeezed for row in COUNTED)


@pytest.fixture(scope="module")
def site(lake: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the job's wheel is installed, with no index to ask."""
    folder = tmp_path_factory.mktemp("site")
    source = folder / "source"
    shutil.copytree(lake, source)
    pip = [sys.executable, "-m", "pip"]
    built = [*pip, "wheel", "-q", "--no-index", "--no-deps", "--no-build-isolation", "-w", str(folder), "."]
    subprocess.run(built, cwd=source, check=True, capture_output=True)
    wheel = folder / "words_job-1.0-py3-none-any.whl"
    installed = [*pip, "install", "-q", "--no-index", "--no-deps", "--target", str(folder / "site"), str(wheel)]
    subprocess.run(installed, check=True, capture_output=True)
    return folder / "site"


def run(plain: PlainPython, program: list[str], **environment: str) -> subprocess.CompletedProcess[str]:
    given = {**plain.environment(), "PYSPARK_SUBMIT_ARGS": SHELL, **environment}
    return subprocess.run(
        [str(plain.python), *program], capture_output=True, text=True, env=given, cwd="/", check=False, timeout=LIMIT_S
    )


TASK = """
import sys
from importlib.metadata import distribution
from pyspark.sql import SparkSession

spark = SparkSession.builder.config("spark.sql.ansi.enabled", "false").getOrCreate()
(task,) = (entry for entry in distribution("words-job").entry_points if entry.name == "words")
sys.argv = ["words", "--folder", sys.argv[1]]
task.load()()
print("there:", spark.range(3).count())
"""
"""What a service does with a package, an entry point and arguments."""


def test_an_entry_point_leaves_the_session_running(plain: PlainPython, site: Path, lake: Path) -> None:
    done = run(plain, ["-c", TASK, str(lake)], PYTHONPATH=str(site))
    assert done.returncode == 0, done.stderr[-3000:]
    assert has_counted(done.stdout)
    assert "there: 3" in done.stdout


def test_the_wheel_is_a_command(plain: PlainPython, site: Path, lake: Path) -> None:
    done = run(plain, [str(site / "bin/words"), "--folder", str(lake)], PYTHONPATH=str(site))
    assert done.returncode == 0, done.stderr[-3000:]
    assert has_counted(done.stdout)


def test_cells_of_a_notebook(lake: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", SHELL)
    session = """from pyspark.sql import SparkSession

spark = SparkSession.builder.master("local[1]").config("spark.sql.ansi.enabled", "false").getOrCreate()"""
    hasty = """import words_job

try:
    words_job.query(spark, words_job.parse_args([]))
except ValueError as error:
    print(error)"""
    cells = [session, hasty, in_lake(CELL, lake), f"%run words_job.py --folder {lake}", "spark.range(3).count()"]
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in cells])
    where = {"metadata": {"path": str(lake)}}
    nbclient.NotebookClient(book, timeout=LIMIT_S, kernel_name="python3", resources=where).execute()
    said = [
        "".join(output.get("text", "") for output in cell.outputs if output.get("name") == "stdout")
        for cell in book.cells
    ]
    assert (
        'the session has spark.sql.ansi.enabled = false; write: spark.conf.set("spark.sql.ansi.enabled", "true")'
        in said[1]
    )
    assert has_counted(said[2])
    assert has_counted(said[3])
    assert book.cells[4].outputs[0].data["text/plain"] == "3"


@pytest.fixture(scope="module")
def server(plain: PlainPython, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server of Spark Connect on loopback, which knows nothing of Ouzel."""
    port, folder = free_port(), tmp_path_factory.mktemp("connect")
    bound = ("spark.connect.grpc.binding.address=127.0.0.1", f"spark.connect.grpc.binding.port={port}")
    command = [str(Path(pyspark.__file__).parent / "bin/spark-submit"), "--master", "local[1]"]
    command += [*CONF, *(part for each in bound for part in ("--conf", each))]
    command += ["--class", "org.apache.spark.sql.connect.service.SparkConnectServer", "spark-internal"]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, env=plain.environment(), cwd=folder)

    def answers() -> bool:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return True
        return False

    try:
        assert is_reached(answers, START_S, look_s=0.2), (folder / "log").read_text()[-3000:]
        yield f"sc://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(120)


def test_a_client_of_spark_connect(plain: PlainPython, server: str, lake: Path) -> None:
    program = in_lake(CLIENT, lake).replace('"sc://host:15002"', repr(server))
    assert server in program
    done = run(plain, ["-c", program], PYTHONPATH=str(lake))
    assert done.returncode == 0, done.stderr[-3000:]
    assert has_counted(done.stdout)


def test_the_job_as_a_client_of_spark_connect(plain: PlainPython, server: str, lake: Path) -> None:
    done = run(plain, [str(lake / "words_job.py"), "--folder", str(lake)], SPARK_REMOTE=server)
    assert done.returncode == 0, done.stderr[-3000:]
    assert has_counted(done.stdout)
