"""Compiles Ouzel's loops where that has not been done, by work in small: those over JSON are compiled for what they are first given.

Numba keeps what it has made. Else each of the tests' parts would compile them, and Spark's workers that have Ouzel as a wheel.

    python -m tests.servers.loops
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from ouzel.connectors.formats import csv_kernels
from ouzel.runtime.cluster.server import warm_up
from ouzel.runtime.run import RunState
from ouzel.session import load_text
from tests.law.engines import run_to_end

LIMIT_S = 600

RECORDS = '{"name": "a\\u00e9", "price": 1.5, "placed": "2024-01-01T10:00:00Z", "day": "2024-01-01", "items": [1, 2]}\n'
QUERY = """
CREATE TABLE orders (name VARCHAR, price DECIMAL(10, 2), placed TIMESTAMP(3), day DATE, items ARRAY<INT>)
WITH ('connector' = 'file', 'path' = 'orders.json', 'format' = 'json');
SELECT name, price, placed, day, items FROM orders;
"""


def read_json() -> None:
    """Read a record that has a field of each kind."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "orders.json").write_text(RECORDS)
        _, status = run_to_end(load_text(QUERY, Path(folder), "loops"), "memory", LIMIT_S)
    assert status.state is RunState.FINISHED, status


if __name__ == "__main__":
    assert csv_kernels.__name__  # compiled by being imported, as what warms up imports
    warm_up()
    read_json()
