"""The word count in Python against other streaming libraries for Python: `python bench/dsl_peers.py --peers VENV/bin/python`.

One JSON line a contender: words a second of CPU, the best of rounds that alternate. Each contender is a process of its own over the same
file, on one thread; what it costs to import is not counted. VENV has bytewax and pathway from PyPI; without it only Ouzel runs, whose
whole topology is in one process here (`memory`). Bytewax tells its totals either once at the end, or as they grow, as Ouzel and Pathway do.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from itertools import islice
from pathlib import Path

TEXT = Path(__file__).parent.parent / "sql_examples/data/announcements.txt"
LINES, ROUNDS = 200_000, 2

OUZEL = """
import sys, time
import polars as pl
import ouzel
from ouzel import Source, column_function, monoid

@column_function(str)
def split(lines):
    return lines.str.split(" ")

@column_function(tuple[str, int])
def counted(words):
    return words, pl.repeat(1, len(words), dtype=pl.Int64, eager=True)

def count(path, kind):
    lines = Source.file(path)
    if kind == "rows":
        pairs = lines.flat_map(str.split).map(lambda word: (word, 1))
    elif kind == "columns":
        pairs = lines.flat_map(split).map(counted)
    else:
        return ouzel.table(f'''CREATE TABLE lines (line VARCHAR) WITH ('connector' = 'file', 'path' = '{path}', 'format' = 'raw');
        SELECT word, COUNT(*) AS n FROM lines CROSS JOIN UNNEST(SPLIT(line, ' ')) AS words (word) GROUP BY word;''', "memory")["n"]
    return pairs.sum_by_key(monoid.Sum()).table("memory")["value"]

path, kind = sys.argv[1:]
count(path + ".one", kind)
begun = time.process_time()
words = count(path, kind).sum()
print(words, time.process_time() - begun)
"""

BYTEWAX = """
import sys, time
import bytewax.operators as op
from bytewax.connectors.files import FileSource
from bytewax.dataflow import Dataflow
from bytewax.testing import TestingSink, cluster_main
flow, out = Dataflow("words"), []
lines = op.input("lines", flow, FileSource(sys.argv[1], batch_size=1000))
words = op.flat_map("split", lines, str.split)
def add(total, one):
    total = (total or 0) + 1
    return total, total
if sys.argv[2] == "at the end":
    op.output("out", op.count_final("count", words, lambda word: word), TestingSink(out))
else:
    keyed = op.stateful_map("count", op.key_on("key", words, lambda word: word), add)
    op.output("out", keyed, TestingSink(out))
begun = time.process_time()
cluster_main(flow, [], 0)
print(sum(dict(out).values()), time.process_time() - begun)
"""

PATHWAY = """
import sys, time
import pathway as pw
lines = pw.io.plaintext.read(sys.argv[1], mode="static")
parts = lines.select(word=pw.apply_with_type(lambda line: tuple(line.split()), tuple[str, ...], lines.data))
words = parts.flatten(pw.this.word)
counts = words.groupby(words.word).reduce(words.word, n=pw.reducers.count())
total = [0]
def add(key, row, time, is_addition):
    total[0] += row["n"] if is_addition else -row["n"]
pw.io.subscribe(counts, add)
begun = time.process_time()
pw.run(monitoring_level=pw.MonitoringLevel.NONE)
print(total[0], time.process_time() - begun)
"""


def contenders(peers: str) -> dict[str, list[str]]:
    """The command of each, in which the file comes behind the program."""
    ours = {f"ouzel, {kind}": [sys.executable, "-c", OUZEL, kind] for kind in ("rows", "columns", "SQL")}
    theirs = {f"bytewax, {kind}": [peers, "-c", BYTEWAX, kind] for kind in ("at the end", "as they grow")}
    theirs["pathway"] = [peers, "-c", PATHWAY]
    return ours | (theirs if peers else {})


def seconds(command: list[str], path: Path, words: int) -> float:
    """CPU time of one process, which has to count the words right."""
    env = os.environ | {"POLARS_MAX_THREADS": "1", "PATHWAY_THREADS": "1", "PATHWAY_MONITORING_SERVER": ""}
    given = [*command[:3], str(path), *command[3:]]
    told = subprocess.run(given, env=env, capture_output=True, text=True, check=True).stdout.split()
    assert int(told[-2]) == words, told
    return float(told[-1])


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--peers", default="", help="the python of a venv with bytewax and pathway")
    commands = contenders(parser.parse_args().peers)
    with tempfile.TemporaryDirectory() as folder:
        text = Path(folder, "lines.txt")
        with TEXT.open() as lines:
            text.write_text("".join(" ".join(line.split()) + "\n" for line in islice(lines, LINES)))
        Path(f"{text}.one").write_text("one word\n")
        words = len(text.read_text().split())
        best = dict.fromkeys(commands, float("inf"))
        for _ in range(ROUNDS):
            for name, command in commands.items():
                best[name] = min(best[name], seconds(command, text, words))
        for name, spent in best.items():
            print(
                json.dumps({"contender": name, "words": words, "words_per_cpu_second": round(words / spent)}),
                flush=True,
            )


if __name__ == "__main__":
    main()
