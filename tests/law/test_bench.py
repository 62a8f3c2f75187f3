"""The benches run, and print one JSON line with the keys of the peers' lines."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from bench import nexmark, word_count
from bench.nexmark import QUERIES, into_blackhole, query_names
from bench.words import distinct_words
from ouzel.compiler.plan import Scan, walk
from ouzel.session import load_text

ROOT = Path(__file__).parents[2]
KEYS = {
    "engine",
    "workload",
    "rows",
    "seconds",
    "rows_per_s",
    "cpu_seconds",
    "rows_per_cpu_s",
    "p50_ms",
    "p99_ms",
    "max_rss_mb",
    "others_cpu_s",
}


SHORT = ("--warm-up", "0.2", "--seconds", "0.5")


Bench = Callable[..., dict[str, object]]


@pytest.fixture
def printed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Bench:
    """Runs a bench in this process, whose topologies start warm, with these arguments; the line that it prints."""

    def run(module: ModuleType, *arguments: str) -> dict[str, object]:
        monkeypatch.setattr(sys, "argv", [module.__name__, *arguments, *SHORT])
        module.main()
        line: dict[str, object] = json.loads(capsys.readouterr().out)
        return line

    return run


@pytest.mark.server
def test_the_word_count_is_a_program() -> None:
    command = [sys.executable, "-m", "bench.word_count", *SHORT]
    run = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, cwd=ROOT)
    assert run.returncode == 0, run.stderr
    assert json.loads(run.stdout).keys() >= KEYS


@pytest.mark.server
@pytest.mark.parametrize("arguments", [("--sql",), ("--bolts", "2", "--containers", "2")], ids=["sql", "two bolts"])
def test_the_word_count_prints_its_figures(arguments: tuple[str, ...], printed: Bench) -> None:
    line = printed(word_count, *arguments)
    assert line.keys() >= KEYS
    assert int(str(line["rows"])) > 0
    assert (line["failed"], line["restarts"]) == (0, 0)


@pytest.mark.server
def test_a_run_without_acks_has_no_latency(printed: Bench) -> None:
    line = printed(word_count, "--no-acks")
    assert line["workload"] == "W1-noacks"
    assert int(str(line["rows"])) > 0


@pytest.mark.server
@pytest.mark.slow
@pytest.mark.parametrize("query", ["q1", "q5", "q10", "q13", "q16"])
def test_a_nexmark_query_prints_its_figures(query: str, printed: Bench) -> None:
    line = printed(nexmark, query)
    assert line["workload"] == f"W2-{query}"
    assert int(str(line["rows"])) > 0


@pytest.mark.parametrize("query", query_names())
def test_a_nexmark_query_never_ends(query: str) -> None:
    job = load_text(into_blackhole(query), QUERIES, query)
    assert not any(
        "events" in scan.options for sink in job.program.sinks for scan in walk(sink) if isinstance(scan, Scan)
    )


def test_words_are_distinct_and_the_same_each_time() -> None:
    words = distinct_words(5_000)
    assert words.n_unique() == len(words) == 5_000
    assert words.equals(distinct_words(5_000))
    assert 7 < words.str.len_bytes().mean() < 9  # type: ignore[operator]
