"""Programs that are run as files: their classes and functions belong to no module that another process could import."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from ouzel.dsl import Source


class Place(NamedTuple):
    town: str
    since: datetime | None


@dataclass
class Event:
    at: datetime


@dataclass
class Sale(Event):
    item: str
    place: Place
    price: float


@dataclass
class Priced(Sale):
    \"\"\"Has no field of its own.\"\"\"


DAY = datetime(2024, 1, 1)
sales = Source.of([Priced(DAY, "a", Place("Ulm", None), 1.0), Priced(DAY, "b", Place("Bonn", DAY), 2.0)])

if __name__ == "__main__":
    print(sales.filter(lambda sale: sale.price > 0).table(engine="heron"))
"""


@pytest.mark.server
def test_types_that_are_texts_are_known_in_every_process(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    run = subprocess.run([sys.executable, program], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stderr
    assert "Ulm" in run.stdout, run.stderr
    assert "2024-01-01" in run.stdout


STARTED = """
import ouzel

lines = ouzel.Source.of(["a", "b"]).map(str.upper)

if __name__ == "__main__":
    run = lines.start()
    WAIT
    print("started")
"""


@pytest.mark.server
@pytest.mark.parametrize(("wait", "tells"), [("pass", True), ("run.wait()", False), ("run.stop()", False)])
def test_a_run_that_goes_on_while_its_program_ends_is_told(wait: str, tells: bool, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(STARTED.replace("WAIT", wait))
    run = subprocess.run([sys.executable, program], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert run.stdout == "started\n", run.stderr
    assert ("the run of 'program' goes on while the program ends, and ends with it" in run.stderr) is tells
