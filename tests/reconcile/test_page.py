"""The report's page, without Spark: what comes first, what leads where, what a phone shows."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser

import pytest

from ouzel.compiler.types import BIGINT, TIMESTAMP, VARCHAR, Field, Schema
from ouzel.reconcile import Class, Reconciliation
from ouzel.reconcile.comparing.lineage import DAY_US, Lineage
from ouzel.reconcile.comparing.timeline import Timeline
from ouzel.reconcile.reconciliation import Difference, RoundFindings
from ouzel.reconcile.recording.record import RunRecord
from ouzel.reconcile.report import page
from ouzel.reconcile.report.style import STYLE

FIRST = datetime(2013, 1, 1)
FIRST_US = (FIRST - datetime(1970, 1, 1)) // timedelta(microseconds=1)
COLUMNS = Schema((Field("day", TIMESTAMP), Field("wide", VARCHAR), Field("origin", VARCHAR), Field("n", BIGINT)))


def difference(kind: Class, day: int, *, stream: bool = True, batch: bool = True) -> Difference:
    """A row that differs in its count."""
    rows = [(FIRST + timedelta(days=day), "text", "JFK", count) for count in (1, 2)]
    return Difference(kind, ("n",) if stream and batch else (), rows[0] if stream else None, rows[1] if batch else None)


def found() -> Reconciliation:
    """A comparison in which all sorts of rows differ."""
    samples = {
        Class.LATE: (difference(Class.LATE, 1),),
        Class.VALUE_DIFFERS: tuple(difference(Class.VALUE_DIFFERS, day) for day in (0, 0, 2)),
        Class.ONLY_BATCH: (difference(Class.ONLY_BATCH, 2, stream=False),),
    }
    counts = {kind: len(rows) for kind, rows in samples.items()}
    slices = {Class.LATE: (0, 1, 0, 0), Class.VALUE_DIFFERS: (2, 0, 1, 7), Class.ONLY_BATCH: (0, 0, 1, 0)}
    looks = (RoundFindings(datetime(2026, 1, 1, 12, tzinfo=UTC), FIRST_US, 6, 24, {Class.LATE: 1}, 0.5),)
    facts = Lineage(COLUMNS, ("day", "origin"), "day")
    record = RunRecord("q", "", "", "memory", "at-least-once", {})
    return Reconciliation(
        record, "result", facts, 9, 9, 9, counts, None, samples, Timeline(FIRST_US, DAY_US, 4, slices), "", "", # type: ignore[arg-type]
        rounds=looks, tampered=("part-1 is gone",),
    )  # fmt: skip


class Links(HTMLParser):
    """All ids, and all places that something leads to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.leads: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.ids += [value or "" for name, value in attrs if name == "id"]
        self.leads |= {(value or "").removeprefix("#") for name, value in attrs if name == "href"}


def test_each_bar_leads_to_its_rows_or_to_its_class_where_they_are_not_shown() -> None:
    links = Links(page(found()))
    assert len(set(links.ids)) == len(links.ids)
    assert links.leads <= set(links.ids)
    assert links.leads == {"value-differs-0", "value-differs-2", "value-differs", "only-in-batch-2", "late"}


def test_what_nothing_explains_comes_first_and_above_all_what_happened_to_the_files() -> None:
    text = page(found())
    why = text[text.index("Why they differ") : text.index("When they differ")]
    assert why.index("value differs") < why.index("only in batch") < why.index("late")
    assert text.index("part-1 is gone") < text.index("Why they differ")
    assert "The rounds" in text
    assert "late 1" in text[text.index("The rounds") :]


def test_a_phone_shows_each_round_as_a_card() -> None:
    text = page(found())
    rounds = text[text.index("The rounds") : text.index("Both plans")]
    assert 'class="rows cards"' in rounds
    assert 'data-label="compared to"' in rounds
    assert 'class="rows"' in text[text.index("Settings") :]


def test_what_differs_stands_beside_the_keys_and_midnight_is_a_day() -> None:
    text = page(found())
    heads = re.findall(r"<th[^>]*>(\w+)</th>", text[text.index('id="value-differs"') :])[:4]
    assert heads == ["day", "origin", "n", "wide"]
    assert "2013-01-03<" in text
    assert "00:00:00" not in text[text.index("The rows") :]
    assert text.count('data-label="n"') == 5


def luminance(colour: str) -> float:
    """How light a colour is, from 0 to 1 (WCAG 2.2)."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(share * part for share, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_what_is_only_in_one_answer_is_told_apart_without_any_colour(scheme: int) -> None:
    stream, batch = (
        luminance(re.findall(rf"--{name}: (#\w+)", STYLE)[scheme]) for name in ("only-in-stream", "only-in-batch")
    )
    assert (max(stream, batch) + 0.05) / (min(stream, batch) + 0.05) > 2.5


def test_every_class_has_a_colour_in_both_schemes() -> None:
    for kind in Class:
        assert len(re.findall(rf"--{kind.value.replace(' ', '-')}: #", STYLE)) == 2
