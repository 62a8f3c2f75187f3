"""Programs in modules: what a module does when it is imported, each task does by itself, in a process that never forks.

The programs run as a user runs them: Python files in a directory, started by their names.
"""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import polars as pl
import pytest

from ouzel.runtime.process.starting import START_MS, StartWatch, parse_place

ROWS = """
from typing import NamedTuple
from ouzel import Source
import polars as pl
import utils

class Row(NamedTuple):
    word: str
    n: int

known = pl.read_parquet(utils.PATH)  # starts threads of Polars
rows = Source.file(utils.PATH, Row, format="parquet")
"""
WORDS = """
import threading
from ouzel import Source, monoid
from shop import rows as rows_module
from shop.rows import Row, known, rows

lock = threading.Lock()  # which cannot be pickled

def pair(row):
    with lock:
        assert isinstance(row, Row) and isinstance(row, rows_module.Row)
        return row.word, row.n + len(known)

words = rows.map(pair).sum_by_key(monoid.Sum())
"""
MAIN = """
from shop.words import words

if __name__ == "__main__":
    print(sorted(words.table().rows()))
"""
FILES = {
    "utils.py": "PATH = {path!r}\n",
    "shop/__init__.py": "",
    "shop/rows.py": ROWS,
    "shop/words.py": WORDS,
    "main.py": MAIN,
}


def write_program(directory: Path, **others: str) -> None:
    path = directory / "words.parquet"
    pl.DataFrame({"word": ["a", "b", "a"], "n": [1, 2, 3]}).write_parquet(path)
    (directory / "shop").mkdir()
    for name, text in {**FILES, **others}.items():
        (directory / name).write_text(text.replace("{path!r}", repr(str(path))))


def run(directory: Path, *command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *command], cwd=directory, capture_output=True, text=True, check=False)


@pytest.mark.server
def test_a_program_in_modules_that_use_polars_when_they_are_imported_runs(tmp_path: Path) -> None:
    """It hung for ever: the server imported the modules and forked. `utils` is found where the program finds it, first on the path."""
    write_program(tmp_path)
    ran = run(tmp_path, "main.py")
    assert ran.stdout.splitlines() == ["[('a', 10), ('b', 5)]"], ran.stderr


@pytest.mark.server
@pytest.mark.whole
def test_a_module_that_runs_its_program_when_it_is_imported_is_told(tmp_path: Path) -> None:
    """Each task would import it, and run the program, whose tasks import it."""
    write_program(tmp_path)
    path = tmp_path / "shop" / "words.py"
    path.write_text(f"{WORDS}words.table()\n")
    ran = run(tmp_path, "main.py")
    assert ran.returncode == 1
    line = len(WORDS.splitlines()) + 1
    told = f"a module that tasks import starts a topology when it is imported (at {path}:{line}); put that below `if"
    assert told in ran.stderr


def wait_here(gate: threading.Event, looked: threading.Event) -> None:
    gate.set()
    looked.wait()


def test_a_task_that_does_not_start_says_once_where_it_waits(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    gate, looked, told = threading.Event(), threading.Event(), list[str]()
    thread = threading.Thread(target=wait_here, args=(gate, looked))
    thread.start()
    gate.wait()
    monkeypatch.setattr("threading.main_thread", lambda: thread)
    watch = StartWatch("'words' (task 1)", 0.0, told.append)
    assert [watch.is_late(moment) for moment in (0.0, START_MS - 1, START_MS, START_MS + 1)] == [
        False,
        False,
        True,
        True,
    ]
    looked.set()
    thread.join()
    (text,) = told
    assert text.startswith("'words' (task 1) has not started within 30 s: it waits in wait_here (")
    assert __file__ in text
    assert "looked.wait()" in capsys.readouterr().err
    watch.on_started()
    assert not watch.is_late(START_MS + 2)


def test_where_a_process_was_is_read_from_what_it_wrote_of_its_threads() -> None:
    log = (
        'Thread 0x1 (most recent call first):\n  File "/usr/other.py", line 3 in run\n\n'
        f'Current thread 0x2 (most recent call first):\n  File "{threading.__file__}", line 7 in wait\n'
        '  File "/me/shop.py", line 12 in slow\n  File "<string>", line 1 in <module>\n'
    )
    assert parse_place(log) == "in slow (/me/shop.py:12)"
    assert parse_place("nothing of it") == ""
