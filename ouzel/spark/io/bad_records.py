"""Records that a job leaves out because they cannot be read: how many, told on stderr, and their dead letters, written once.

Tasks hand them to the driver in a Spark accumulator, by the place they are at: so a table that a job reads twice counts nothing twice.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from ouzel.connectors.dead_letters import RefusedRecord, write_dead_letters
from ouzel.spark.io.accumulated import accumulator
from ouzel.spark.wheel import refuse_connect_session

if TYPE_CHECKING:
    from pyspark import Accumulator
    from pyspark.sql import SparkSession

Found = dict[tuple[str, str], "int | RefusedRecord"]
"""(table, place) -> the record at this place, or how many there are in a partition that starts there if nobody wants to see them."""


class BadRecords:
    """What the tables of one job leave out."""

    def __init__(self, spark: SparkSession) -> None:
        refuse_connect_session(spark)
        self.found: Accumulator[Found] = accumulator(spark)
        self._files: dict[str, Path] = {}

    def expect(self, table: str, options: Mapping[str, str], folder: Path) -> None:
        """Note where a table's dead letters go, if it has any."""
        path = options.get("dead-letter.path")
        if path:
            self._files[table] = folder / path

    def settle(self, say: Callable[[str], None] = lambda text: print(text, file=sys.stderr)) -> None:
        """Once the job has answered: write the dead letters, and tell of each table how many records were left out.

        Raises:
            ConnectorError: the dead letters cannot be written.
        """
        found = self.found.value
        counts: Counter[str] = Counter()
        for (table, _), what in found.items():
            counts[table] += what if isinstance(what, int) else 1
        for table, count in sorted(counts.items()):
            letters = [what for (of, _), what in found.items() if of == table and isinstance(what, RefusedRecord)]
            written = f"; they are in {self._files[table]}" if letters else ""
            if letters:
                write_dead_letters(self._files[table], letters)
            say(f"{table}: {count:,} bad record{'s' * (count != 1)} left out{written}")
