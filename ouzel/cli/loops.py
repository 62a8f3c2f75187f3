"""Compiles Ouzel's loops ahead of the first run, as when an image is built; Numba keeps what it has made.

Most loops have explicit signatures and are compiled when their modules are imported. Those over JSON are compiled for what they are first
given: two records that have a field of each kind. Without this the first run compiles what it uses, for some seconds.

    python -m ouzel.cli.loops
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from ouzel import table
from ouzel.connectors.formats.csv import kernels as csv_kernels
from ouzel.runtime.cluster.server import warm_up

RECORDS = '{"name": "a\\u00e9", "price": 1.5, "placed": "2024-01-01T10:00:00Z", "day": "2024-01-01", "items": [1, 2]}\n'
QUERY = """
CREATE TABLE orders (name VARCHAR, price DECIMAL(10, 2), placed TIMESTAMP(3), day DATE, items ARRAY<INT>)
WITH ('connector' = 'file', 'path' = '{path}', 'format' = 'json');
SELECT name, price, placed, day, items FROM orders;
"""


def read_json() -> None:
    """Read a record that has a field of each kind."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "orders.json"
        path.write_text(RECORDS)
        table(QUERY.format(path=path), engine="memory")


def compile_all() -> None:
    """Compile every loop that has not been compiled since its source changed."""
    assert csv_kernels.__name__  # its import compiles the loops over CSV
    warm_up()
    read_json()


if __name__ == "__main__":
    compile_all()
