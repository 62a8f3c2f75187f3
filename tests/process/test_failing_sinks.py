"""A sink that cannot write ends its run, whatever its task has still to read."""

from __future__ import annotations

from pathlib import Path

import pytest

from ouzel.runtime.run import RunState
from ouzel.session import load_text, start
from tests.servers.waiting import wait_for_end

NOBODY_MAY_WRITE = Path("/proc/sys/kernel")


@pytest.mark.server
@pytest.mark.skipif(not NOBODY_MAY_WRITE.is_dir(), reason="needs a folder that not even root may write to")
@pytest.mark.parametrize("hint", ["", "/*+ PARALLELISM('o'='1') */"], ids=["reads too", "by itself"])
def test_a_sink_that_fails_when_all_has_been_read_ends_the_run(tmp_path: Path, hint: str) -> None:
    (tmp_path / "out").symlink_to(NOBODY_MAY_WRITE)
    text = f"""
        CREATE TABLE t (n BIGINT) WITH ('connector' = 'datagen', 'rows' = '3', 'fields.n.kind' = 'sequence');
        CREATE TABLE o (n BIGINT) WITH ('connector' = 'file', 'path' = 'out', 'format' = 'csv');
        INSERT INTO o SELECT {hint} n FROM t;
    """
    handle = start(load_text(text, tmp_path, "fails"))
    try:
        status = wait_for_end(handle)
    finally:
        handle.stop()
    assert status.state is RunState.FAILED
    assert f"table 'o' cannot be written to {tmp_path}/out" in status.reason
