"""Queries that take the place of submitted ones: the page's transcript under load, six evolutions, and what is refused."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from ouzel.runtime.cluster.submitted.registry import Registry
from ouzel.runtime.protocol.cluster.submitted import Verb
from tests.cli.test_submitted import Place, place
from tests.cli.test_update import EPOCHS, Words
from tests.servers.waiting import wait_until

__all__ = ["place"]
pytestmark = pytest.mark.server

PAGE = Path(__file__).parents[2] / "docs/operations.md"
SECTION = PAGE.read_text().partition("### Another query")[2].partition("\n### ")[0]
QUERY = SECTION.partition("```sql\n")[2].partition("```")[0]
VARIANTS = re.findall(r"^\| `(\w+\.sql)` \| `(.*)` \| `(.*)` \|$", SECTION, re.MULTILINE)
TRANSCRIPT = re.findall(r"^\$ ouzel (.*)\n((?:(?!\$ |```).*\n)*)", SECTION, re.MULTILINE)
VISITS = {"filter.sql": {166, 167}, "wider.sql": {500}}
"""How often each page is visited in a window; 250 times if nothing else is said."""

TABLE = "CREATE TABLE lines (word VARCHAR) WITH ('connector' = 'file', 'path' = 'lines.jsonl', 'format' = 'json', 'follow' = 'true');\n"
COUNT = f"{TABLE}SELECT word, COUNT(*) AS n FROM lines WHERE word <> 'word0' GROUP BY word EMIT CHANGES;\n"


def write(place: Place, text: str, name: str = "counted.sql") -> Path:
    """A file of SQL."""
    path = place.root / name
    path.write_text(text)
    return path


def is_cut(row: dict[str, Any], file: str) -> bool:
    """Whether the window was open when a query took over that began empty, so that it has less than all."""
    return not {row.get("visits"), row.get("seen")} & VISITS.get(file, {250})


def test_the_transcript_of_the_page_is_what_is_printed_and_what_is_kept_is_whole(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (len(VARIANTS), len(TRANSCRIPT)) == (6, 9)
    monkeypatch.chdir(place.root)
    write(place, QUERY, "visits.sql")
    for name, was, now in VARIANTS:
        write(place, QUERY.replace(was, now), name)
    for command, printed in TRANSCRIPT:
        words = shlex.split(command)
        result = place.ask(*words, *(EPOCHS if words[0] == "submit" else ()))
        *shown, last = printed.strip().splitlines()
        said = [line for line in (result.stdout + result.stderr).splitlines() if not line.startswith("`ouzel status")]
        assert said == [*shown, last], result.output
        assert result.exit_code == (2 if last.startswith("error") else 0)
        before = len(place.rows("visits"))
        wait_until(lambda before=before: len(place.rows("visits")) > before + 40)
        if not last.startswith("error"):
            check_windows(place.rows("visits"), words[-1] if words[0] == "submit" else words[2])


def check_windows(rows: list[dict[str, Any]], file: str) -> None:
    """Each page once in each window, whole; but for the first windows of a query that began empty, and what was before it."""
    assert max(Counter((row["window_end"], row["page"]) for row in rows).values()) == 1
    cut = {row["window_end"] for row in rows if is_cut(row, file)}
    ends = sorted({row["window_end"] for row in rows})
    if file in ("visits.sql", "renamed.sql", "column.sql", "tasks.sql"):
        assert not cut
    elif file != "filter.sql":  # whose result has the windows before it too
        assert cut <= set(ends[:4])
    assert not cut & set(ends[-4:])


def test_a_renamed_result_goes_on_and_every_word_is_counted_once(place: Place) -> None:
    words = Words(place.lines)
    words.start()
    place.told("submit", write(place, COUNT), *EPOCHS)
    wait_until(lambda: len(place.rows("counted")) > 100)
    told = place.told("update", "counted", write(place, COUNT.replace("AS n", "AS how_often"), "next.sql"), "--yes")
    assert told.splitlines()[-2:] == ["no state is lost", "updated 'counted'"]
    words.stop()
    expected = {word: number for word, number in words.counts.items() if word != "word0"}
    wait_until(lambda: {row["word"]: row["how_often"] for row in place.rows("counted")} == expected)


BOTH = COUNT.replace(
    "SELECT",
    "CREATE TABLE lengths (n BIGINT, many BIGINT) WITH ('connector' = 'blackhole');\n"
    "INSERT INTO lengths SELECT CHAR_LENGTH(word) AS n, COUNT(*) AS many FROM lines GROUP BY CHAR_LENGTH(word);\nSELECT",
    1,
)


@pytest.mark.whole
def test_all_go_back_to_an_epoch_of_before_the_update_and_go_on_from_the_same_state(place: Place) -> None:
    """Another component now has the number that the counting one had; it finds what that kept all the same."""
    words = Words(place.lines)
    words.start()
    place.told("submit", write(place, COUNT), "--set", "checkpoint.interval.ms=600000")
    wait_until(lambda: len(place.rows("counted")) > 100)
    told = place.told(
        "update", "counted", write(place, BOTH, "both.sql"), "--yes", "--set", "checkpoint.interval.ms=600000"
    )
    assert "new      count_by_key" in told
    place.kill_all("counted")
    place.told("start", "counted")
    before = sum(row["n"] for row in place.rows("counted"))
    wait_until(lambda: sum(row["n"] for row in place.rows("counted")) > before)
    place.told("restart", "counted", "count_by_word[0]")
    words.stop()
    expected = {word: number for word, number in words.counts.items() if word != "word0"}
    wait_until(lambda: {row["word"]: row["n"] for row in place.rows("counted")} == expected)


def refused(place: Place, *arguments: object) -> str:
    """What a command says that must be refused."""
    result = place.ask("update", *arguments)
    assert result.exit_code == 2, result.output
    return result.stderr


def test_what_is_wrong_is_told_before_anything_stops(place: Place, tmp_path: Path) -> None:
    place.append(1)
    good = write(place, COUNT)
    other = write(place, COUNT.replace("'word0'", "'word1'"), "other.sql")
    place.told("submit", good, *EPOCHS)
    registry = Registry(place.home)
    record = registry.find("counted")
    cases = {
        ("nowhere", good): "there is no submitted topology 'nowhere'; `ouzel list` shows all that there are",
        ("counted", place.root / "none.sql"): f"cannot read {place.root}/none.sql: No such file or directory",
        (
            "counted",
            write(place, "SELECT x FROM nothing;", "wrong.sql"),
        ): "there is no table nothing; write a CREATE TABLE or CREATE VIEW for it first, for those of other files are not known here",
        ("counted", write(place, "SHOW FUNCTIONS;", "asks.sql")): "the query asks for nothing that runs",
        (
            "counted",
            _copied(good, tmp_path),
        ): f"paths of the new query start in {tmp_path}, and those of topology 'counted' in",
        ("counted", good, "--set", "checkpoint.path=elsewhere"): "topology 'counted' has its epochs in another folder",
        ("counted", "--bootstrap", "--parallelism", "count_by_word=2"): "other numbers of tasks keep all state",
        (
            "counted",
            good,
        ): "topology 'counted' is not updated, for nobody has approved what becomes of it; add --yes to do that",
        ("counted", other, "--yes"): "the state of 'count_by_word' would be lost; add --allow-state-loss",
        ("counted",): "write either FILE.sql or --parallelism COMPONENT=N",
    }
    for arguments, told in cases.items():
        assert told in " ".join(refused(place, *arguments).split()), arguments
    assert "the state of 1 operator is lost" in place.told("update", "counted", other, "--dry-run")
    with Registry(place.home).changing(Verb.PAUSE, "counted"):
        assert "is being changed by another command" in refused(place, "counted", good, "--yes")
    assert registry.find("counted") == record
    place.told("pause", "counted")
    assert "topology 'counted' is paused: have it go on with `ouzel resume counted`" in refused(place, "counted", good)
    place.told("kill", "counted")
    place.told("submit", good, "--set", "checkpoint.interval.ms=0")
    assert "keeps no epochs that an update could go on from" in refused(place, "counted", good, "--yes")


def _copied(file: Path, folder: Path) -> Path:
    copy = folder / file.name
    copy.write_text(file.read_text())
    return copy


@pytest.mark.whole
def test_a_query_whose_table_is_not_there_is_told_and_the_former_one_goes_on(place: Place) -> None:
    words = Words(place.lines)
    words.start()
    place.told("submit", write(place, COUNT), *EPOCHS)
    wait_until(lambda: len(place.rows("counted")) > 100)
    gone = write(place, COUNT.replace(", 'follow' = 'true'", "").replace("lines.jsonl", "gone.jsonl"), "gone.sql")
    failed = place.ask("update", "counted", gone, "--yes", "--allow-state-loss")
    assert failed.exit_code == 1, failed.output
    assert "'counted' is not updated, and goes on as it was: table 'lines' finds no file at gone.jsonl" in failed.stderr
    words.stop()
    expected = {word: number for word, number in words.counts.items() if word != "word0"}
    wait_until(lambda: {row["word"]: row["n"] for row in place.rows("counted")} == expected)


@pytest.mark.whole
def test_what_cannot_be_kept_is_filled_from_history(place: Place) -> None:
    """A sum beside a count, of a file that grows: the answer is that of all lines, and outlives all processes."""
    words = Words(place.lines)
    words.start()
    place.told("submit", write(place, COUNT), *EPOCHS)
    wait_until(lambda: len(place.rows("counted")) > 100)
    wait_until(lambda: "complete" in place.ask("checkpoint", "list", "counted").stdout)
    more = write(place, COUNT.replace("AS n", "AS n, SUM(CHAR_LENGTH(word)) AS total"), "more.sql")
    planned = place.told("update", "counted", more, "--bootstrap", "--dry-run").splitlines()
    assert re.fullmatch(r"history  table 'lines': [\d,]+ records, as of the last epoch, are read again", planned[0])
    assert "filled   " in planned[2]
    assert planned[-1] == "no state is lost"
    told = place.told("update", "counted", more, "--bootstrap", "--yes")
    assert told.splitlines()[-2:] == ["no state is lost", "updated 'counted'"]
    place.kill_all("counted")
    place.told("start", "counted")
    words.stop()
    expected = {word: (n, n * len(word)) for word, n in words.counts.items() if word != "word0"}
    wait_until(lambda: {row["word"]: (row["n"], row["total"]) for row in place.rows("counted")} == expected)
