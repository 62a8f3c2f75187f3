"""A program in a notebook: a real kernel runs its cells, and shows streams and tables."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import ouzel

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
pytest.importorskip("matplotlib")

CELLS = (
    """from ouzel import Source, monoid

lines = Source.of(["to be or", "not to be"])
words = lines.flat_map(str.split).map(lambda word: (word, 1)).sum_by_key(monoid.Sum())
words""",
    "words.show(2, engine='memory')",
    "sorted((await words.tables('memory')).rows())",
    """from datetime import datetime, timedelta

seen = Source.of([(datetime(2026, 1, 1, hour), "ab"[hour % 2]) for hour in range(20)]).event_time("key")
days = seen.map(lambda one: (one[1], 1)).sum_by_window(monoid.Sum(), timedelta(hours=4))
days.plot("memory")""",
)


MISTAKES = {
    "import ouzel\n"
    "ouzel.table('SELECT nope FROM (SELECT 1 AS n) AS t', 'memory')": "there is no column nope",
    "def halve(n):\n    return 1 // n\n"
    "ouzel.Source.of([1, 0]).map(halve, returns=int).table('memory')": "map halve raised ZeroDivisionError",
    "ouzel.table(ouzel.TopologyBuilder('t'), 'memory')": "<topology builder t: nothing yet; build() gives the topology> is no topology yet",
}  # fmt: skip


@pytest.mark.slow
def test_an_error_shows_the_cell_and_no_call_of_ours() -> None:
    cells = [nbformat.v4.new_code_cell(text) for text in MISTAKES]
    book = nbformat.v4.new_notebook(cells=cells)
    nbclient.NotebookClient(book, timeout=120, kernel_name="python3", allow_errors=True).execute()
    for cell, told in zip(book.cells, MISTAKES.values(), strict=True):
        shown = re.sub(r"\x1b\[[0-9;]*m", "", "\n".join(cell.outputs[-1].traceback))
        assert told in shown
        assert f"----> {cell.source.count(chr(10)) + 1} " in shown, "the user's line"
        assert str(Path(ouzel.__file__).parent) not in shown


@pytest.mark.slow
def test_a_notebook_shows_streams_and_awaits_tables() -> None:
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in CELLS])
    nbclient.NotebookClient(book, timeout=120, kernel_name="python3").execute()
    shown, printed, rows, drawn = (cell.outputs[0] for cell in book.cells)
    assert [len(cell.outputs) for cell in book.cells] == [1, 1, 1, 1], "a plot is drawn anew in its place"
    assert "Topology  notebook" in shown.data["text/html"]
    assert "lambda word: (word, 1)" in shown.data["text/html"], "a lambda is told by what it says, in a notebook too"
    assert "shape: (2, 2)" in printed.text
    assert rows.data["text/plain"] == "[('be', 2), ('not', 1), ('or', 1), ('to', 2)]"
    assert "window_start" in drawn.data["image/svg+xml"]
