"""A source of a thousand files in processes: what is read of each is known, and a failure in the last of them is heard of."""

from __future__ import annotations

from pathlib import Path

import pytest

from ouzel.runtime.run import Handle, RunState
from ouzel.session import load_text, start

pytestmark = pytest.mark.server

FILES = 1_000
FOLDER = "/".join(name + 230 * "x" for name in ("one-", "two-", "three-"))
"""So what is told of all files is more than two messages may hold."""

SQL = f"""
CREATE TABLE numbers (n BIGINT) WITH ('connector' = 'file', 'path' = '{FOLDER}', 'format' = 'json');
SELECT COUNT(*) AS rows_read FROM numbers;
"""


def run(directory: Path, last: str) -> Handle:
    folder = directory / FOLDER
    folder.mkdir(parents=True)
    for number in range(FILES):
        (folder / f"{number:05}").write_text('{"n": 1}\n' if number < FILES - 1 else last)
    handle = start(load_text(SQL, directory, "many"))
    while not handle.wait(1.0):
        handle.results()  # else they would end each wait at once
    return handle


def test_every_range_of_many_partitions_is_known_at_the_end(tmp_path: Path) -> None:
    status = run(tmp_path, '{"n": 1}\n').status()
    assert (status.state, status.rows_in, status.rows_acked) == (RunState.FINISHED, FILES, FILES)
    assert set(status.ranges["numbers"].values()) == {(0, 1)}
    assert len(status.ranges["numbers"]) == FILES


def test_the_last_of_many_files_is_bad(tmp_path: Path) -> None:
    status = run(tmp_path, '{"n": "x"}\n').status()
    assert status.state is RunState.FAILED
    assert f"{FILES - 1:05}:1" in status.reason
