"""Event times of a query whose unit was mistaken: a run tells of them, with what reads them."""

from __future__ import annotations

from pathlib import Path

import pytest

from ouzel.runtime.protocol.messages import ADVICE
from ouzel.session import load_text, start

TABLE = """CREATE TABLE m (epoch {}, WATERMARK FOR ts AS ts - INTERVAL '1' MINUTE)
WITH ('connector' = 'file', 'path' = 'm.csv', 'format' = 'csv'{});
SELECT window_start, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE m, DESCRIPTOR(ts), INTERVAL '1' DAY)) GROUP BY window_start, window_end;"""


@pytest.mark.parametrize(
    ("declared", "options", "is_told"),
    [
        ("BIGINT, ts AS TO_TIMESTAMP_LTZ(epoch, 3)", "", True),
        ("BIGINT, ts AS TO_TIMESTAMP_LTZ(epoch, 0)", "", False),
        ("TIMESTAMP_LTZ(3), ts AS epoch", ", 'timestamp.epoch' = 'millis'", True),
        ("TIMESTAMP_LTZ(3), ts AS epoch", ", 'timestamp.epoch' = 'seconds'", False),
    ],
    ids=["millis", "seconds", "the table's millis", "the table's seconds"],
)
def test_seconds_that_are_read_as_milliseconds(tmp_path: Path, declared: str, options: str, is_told: bool) -> None:
    (tmp_path / "m.csv").write_text("epoch\n1774598400\n1774602001\n")
    handle = start(load_text(TABLE.format(declared, options), tmp_path, "q"), "memory")
    while not handle.wait(1):
        pass
    told = [event.text for event in handle.stop().events if event.kind == ADVICE]
    assert len(told) == is_told
    for text in told:
        assert "of January 1970, as 1970-01-21 12:56:38.4" in text
        assert "a thousand times that is 2026-03-27 08:00:00" in text
        assert "TO_TIMESTAMP_LTZ(seconds, 0)" in text
