"""The word count in Python and in SQL on one core: `python bench/dsl.py`, one JSON line a spelling.

A figure is words a second of CPU, best of five passes over the same lines, through the operators that the topology runs: no processes, no
wire, so that it says what the spelling costs. Polars has one thread.
"""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

os.environ["POLARS_MAX_THREADS"] = "1"

import polars as pl

import ouzel
from ouzel import Job, Source, Stream, column_function, monoid
from ouzel.runtime.operators.build import build_chain

LINES, BATCHES, PASSES = 20_000, 10, 5
TEXT = Path(__file__).parent.parent / "sql_examples/data/announcements.txt"
SQL = f"""
CREATE TABLE lines (line VARCHAR) WITH ('connector' = 'file', 'path' = '{TEXT}', 'format' = 'raw');
SELECT word, COUNT(*) AS occurrences FROM lines CROSS JOIN UNNEST(SPLIT(line, ' ')) AS words (word) GROUP BY word;
"""


@column_function(str)
def split(lines: pl.Series) -> pl.Series:
    """The words of each line."""
    return lines.str.split(" ")


@column_function(tuple[str, int])
def counted(words: pl.Series) -> tuple[pl.Series, pl.Series]:
    """Each word and 1."""
    return words, pl.repeat(1, len(words), dtype=pl.Int64, eager=True)


def spellings() -> dict[str, Job]:
    """The word count, three times."""
    lines: Stream[str] = Source.file(str(TEXT))
    rows = lines.flat_map(str.split).map(lambda word: (word, 1)).sum_by_key(monoid.Sum())
    columns = lines.flat_map(split).map(counted).sum_by_key(monoid.Sum())
    return {"functions of rows": rows.job(), "functions of columns": columns.job(), "SQL": ouzel.query(SQL)}


def seconds(job: Job, batches: list[pl.Series]) -> float:
    """CPU time of one pass."""
    source, total = (build_chain(part.chain, job.settings) for part in job.topology.components[:2])
    name = job.topology.components[0].chain[0].schema.names[0]
    frames = [lines.alias(name).to_frame() for lines in batches]
    begun = time.process_time()
    for frame in frames:
        for _, words in source.process(frame):
            total.process(words)
    return time.process_time() - begun


def main() -> None:
    """Measure."""
    text = pl.Series(TEXT.read_text().splitlines())
    batches = [text.sample(LINES, with_replacement=True, seed=number) for number in range(BATCHES)]
    words = sum(int(lines.str.split(" ").list.len().sum()) for lines in batches)
    jobs = spellings()
    for name, job in jobs.items():
        best = min(seconds(job, batches) for _ in range(PASSES))
        print(json.dumps({"spelling": name, "words": words, "words_per_second": round(words / best)}), flush=True)


if __name__ == "__main__":
    main()
