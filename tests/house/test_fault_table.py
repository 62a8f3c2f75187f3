"""The table of faults in docs/delivery.md is what `make fault-table` has written, and has a row for each fault."""

from __future__ import annotations

from doc_sources.glossary import unlinked
from tests.fire.fault_table import (
    FURTHER,
    HEAD,
    MODES,
    PAGE,
    ROWS,
    SIGNALS,
    SINGLE,
    Sighting,
    between_markers,
    load,
    merged,
    render,
)


def test_the_page_has_what_was_seen() -> None:
    assert between_markers(unlinked(PAGE.read_text())) == render(load()), "run `make fault-table`"


def test_each_kind_of_process_has_a_row_for_each_signal() -> None:
    lines = between_markers(unlinked(PAGE.read_text())).splitlines()[len(HEAD) :]
    assert [tuple(line.split(" | ")[:2]) for line in lines] == [
        (f"| {(SINGLE | FURTHER)[who]}", how) for who, how in ROWS
    ]
    assert {(who, signal) for who, signal in ROWS if who in SINGLE} == {
        (who, signal) for who in SINGLE for signal in SIGNALS
    }
    assert {(one.who, one.signal) for one in load()} <= set(ROWS)


def test_nothing_wrong_was_seen() -> None:
    assert [one for one in load() if one.wrong] == []


def test_a_row_says_what_was_seen_in_both_modes() -> None:
    least, effectively = MODES
    seen = [
        Sighting("join", "SIGKILL", least, "", 1_250, ("restarted", "rolled-back"), "", 0.41),
        Sighting("join", "SIGKILL", effectively, "", 0, ("rolled-back",), "`ouzel start`", 0.3),
    ]
    (row,) = [line for line in render(seen).splitlines() if line.startswith("| a join | SIGKILL")]
    assert row == (
        "| a join | SIGKILL | 1,250 twice in files | `restarted`, `rolled-back` | 0.4 | each once | `rolled-back`, `ouzel start` | 0.3 |"
    )
    again = Sighting("join", "SIGKILL", least, "", 0, (), "", 0.2)
    assert merged(seen, [again]) == [again, seen[1]], "in the order of the table"
