"""Submitted topologies that are down and get another query: they go on from their last epoch, and what cannot be started is as it was."""

from __future__ import annotations

import re
import shlex
import time
from datetime import datetime
from pathlib import Path

import pytest

import ouzel
from ouzel.runtime.cluster.submitted.registry import Registry
from ouzel.runtime.protocol.cluster.submitted import Condition
from tests.cli.test_submitted import Place, place
from tests.cli.test_update import EPOCHS, QUERY
from tests.servers.waiting import wait_until

__all__ = ["place"]
pytestmark = pytest.mark.server

PAGE = Path(__file__).parents[2] / "docs/operations.md"
SECTION = PAGE.read_text().partition("### Mending one that failed")[2].partition("\n### ")[0]
TRANSCRIPT = re.findall(r"^\$ (.*)\n((?:(?!\$ |```).*\n)*)", SECTION, re.MULTILINE)
LENIENT = QUERY.replace("'format'", "'bad.record' = 'skip', 'format'")


def write(place: Place, text: str, name: str) -> Path:
    """A file of SQL."""
    path = place.root / name
    path.write_text(text)
    return path


def say(place: Place, *words: str) -> None:
    """Add words to the file."""
    with place.lines.open("a") as file:
        file.writelines(f'{{"word": "{word}"}}\n' for word in words)


def counts(place: Place) -> dict[str, int]:
    """What has been counted."""
    return {row["word"]: row["n"] for row in place.rows("counted")}


def newest_epoch(place: Place) -> int:
    """The newest epoch of the topology; 0 if there is none."""
    listed = re.findall(r"^(\d+) +complete", place.ask("checkpoint", "list", "counted").stdout, re.MULTILINE)
    return int(listed[-1]) if listed else 0


def submit_and_fail(place: Place) -> None:
    """Submit the query that counts; when an epoch has the words, a record comes that ends it."""
    say(place, "a", "b", "a")
    place.told("submit", write(place, QUERY, "counted.sql"), *EPOCHS)
    wait_until(lambda: counts(place) == {"a": 2, "b": 1})
    seen = newest_epoch(place)
    wait_until(lambda: newest_epoch(place) > seen + 1)
    with place.lines.open("a") as file:
        file.write("no JSON\n")
    say(place, "c")
    wait_until(lambda: place.condition("counted") is Condition.FAILED)


def without_numbers(text: str) -> list[str]:
    """Lines of a transcript without what is another each time."""
    return re.sub(r"epoch \d+|\d+-\d+-\d+ \d+:\d+:\d+|[ \t]+$", "…", text.strip(), flags=re.MULTILINE).splitlines()


def test_the_transcript_of_the_page_is_what_is_printed_and_every_word_is_counted_once(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert len(TRANSCRIPT) == 4
    monkeypatch.chdir(place.root)
    submit_and_fail(place)
    write(place, LENIENT, "mended.sql")
    for command, printed in TRANSCRIPT[2:]:
        assert without_numbers(place.told(*shlex.split(command)[1:])) == without_numbers(printed)
    say(place, "a", "d")
    wait_until(lambda: counts(place) == {"a": 3, "b": 1, "c": 1, "d": 1})
    assert "bad-record: " in place.told("status", "counted")


def test_a_second_mistake_can_be_mended_too_and_what_is_stopped_is_started_with_the_new_query(place: Place) -> None:
    submit_and_fail(place)
    failing = LENIENT.replace("SELECT word", "SELECT word, MAX(10 / (CHAR_LENGTH(word) - 1)) AS far")
    kept = write(place, failing.replace(", MAX(10 / (CHAR_LENGTH(word) - 1)) AS far", ""), "kept.sql")
    dies = write(place, f"SET 'checkpoint.interval.ms' = '3600000'; {failing}", "dies.sql")
    lost = place.ask("update", "counted", dies, "--yes")
    assert lost.exit_code == 2
    assert "the state of 'aggregate_by_word' would be lost; add --allow-state-loss" in lost.stderr
    assert place.condition("counted") is Condition.FAILED
    dead = write(place, LENIENT.replace("AS n", "AS n, COUNT(word) AS m"), "other.sql")
    place.told("update", "counted", dead, "--yes", "--allow-state-loss", "--set", "checkpoint.interval.ms=3600000")
    place.kill_all("counted")  # before it has an epoch of its own
    seen = next((place.home / "topologies/counted/runs").glob("*/container-1/metrics-*")).stat().st_mtime
    told = place.told("status", "counted")
    shown = re.match(r"counted · interrupted, last seen (.*) UTC · \d+ starts\n", told)
    assert shown, told
    assert int(seen) <= datetime.fromisoformat(f"{shown[1]}Z").timestamp() <= time.time()
    assert f"interrupted  {shown[1]} " in place.told("list")
    told = place.told("update", "counted", kept, "--yes", "--allow-state-loss", *EPOCHS)
    assert re.match(r"starts   from epoch \d+, made .* UTC, for it was interrupted\n", told)
    say(place, "e")
    wait_until(lambda: counts(place).get("e") == 1)
    place.told("stop", "counted")
    say(place, "e")
    assert "for it is stopped" in place.told("update", "counted", write(place, LENIENT, "again.sql"), "--yes", *EPOCHS)
    wait_until(lambda: counts(place).get("e") == 2)


def test_what_cannot_be_started_stays_as_it_was(place: Place) -> None:
    submit_and_fail(place)
    reason = Registry(place.home).find("counted").reason  # type: ignore[union-attr]
    first, *others = reason.splitlines()
    said = ["server: … UTC: topology 'counted' has failed: " + first, *("server: " + line for line in others)]
    assert without_numbers(place.told("logs", "counted"))[-len(said) :] == said
    gone = LENIENT.replace(", 'follow' = 'true'", "").replace("lines.jsonl", "gone.jsonl")
    failed = place.ask("update", "counted", write(place, gone, "gone.sql"), "--yes", "--allow-state-loss")
    assert failed.exit_code == 1, failed.output
    assert "'counted' is not updated, and it has failed, as before: table 'lines' finds no file at" in failed.stderr
    record = Registry(place.home).find("counted")
    assert record is not None
    assert (place.condition("counted"), record.reason) == (Condition.FAILED, reason)
    place.told("update", "counted", write(place, LENIENT, "mended.sql"), "--yes", *EPOCHS)
    wait_until(lambda: counts(place) == {"a": 2, "b": 1, "c": 1})


def test_one_that_has_kept_no_epoch_begins_anew(place: Place) -> None:
    say(place, "a")
    with place.lines.open("a") as file:
        file.write("no JSON\n")
    place.told("submit", write(place, QUERY, "counted.sql"))
    wait_until(lambda: place.condition("counted") is Condition.FAILED)
    mended = write(place, LENIENT.replace("GROUP", "WHERE word <> 'x' GROUP"), "mended.sql")
    refused = place.ask("update", "counted", mended, "--yes", "--bootstrap")
    assert "topology 'counted' has kept no epoch of the query that it has now" in refused.stderr
    told = place.told("update", "counted", mended, "--yes")
    assert told == (
        "anew     all of it: topology 'counted' has kept no epoch so far, so nothing can be lost\nupdated 'counted'\n"
    )
    wait_until(lambda: counts(place) == {"a": 1})


PROGRAM = """
from typing import NamedTuple

import ouzel

class Line(NamedTuple):
    word: str

def first(line: Line) -> str:
    return {known}[line.word]

lines = ouzel.Source.file("lines.jsonl", Line, format="json", follow="true")
words = lines.map(first).map(lambda word: (word, 1), returns=tuple[str, int])
ouzel.submit(words.sum_by_key(ouzel.monoid.Sum()), "as the program calls it")
"""


def test_a_program_whose_function_is_mended_keeps_the_state_behind_it_if_it_is_trusted(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also one that calls `ouzel.submit` itself: the command has the name, and starts it."""
    monkeypatch.chdir(place.root)
    say(place, "a", "b", "a")
    broken = write(place, PROGRAM.replace("{known}", "dict(a='a', b='b')"), "broken.py")
    place.told("submit", broken, "--name", "counted")
    assert Registry(place.home).names() == ["counted"]
    wait_until(lambda: len(place.rows("counted")) == 2)
    ouzel.attach("counted").stop()
    say(place, "c")
    place.told("start", "counted")
    wait_until(lambda: place.condition("counted") is Condition.FAILED)
    mended = write(place, PROGRAM.replace("{known}", "dict(a='a', b='b', c='c')"), "mended.py")
    refused = place.ask("update", "counted", mended, "--yes")
    assert refused.exit_code == 2
    assert "emptied  sum_by_key: a function before it has other code" in refused.stdout
    assert (
        "if your functions give what they gave of all rows that have come so far, add --trust-functions"
        in refused.stderr
    )
    place.told("update", "counted", mended, "--yes", "--trust-functions")
    expected = {"a": 2, "b": 1, "c": 1}
    wait_until(lambda: {row["key"]: row["value"] for row in place.rows("counted")} == expected)


def test_a_stop_that_cannot_be_noted_says_where_room_is_needed(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    place.told("submit", write(place, QUERY, "counted.sql"))
    place.kill_all("counted")

    def put(registry: Registry, record: object, **changes: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as full:
        full.setattr(Registry, "put", put)
        stopped = place.ask("stop", "counted")
    assert stopped.exit_code == 1
    assert (
        f"that it is stopped cannot be noted in {place.home}: No space left on device; make room there"
        in stopped.stderr
    )
