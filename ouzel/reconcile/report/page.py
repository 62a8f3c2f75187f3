"""The page: verdict, counts, chart, rows of each class, both plans, offsets, events and settings. Nothing outside of it is needed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from functools import partial
from html import escape
from string import Template
from typing import Any

from ouzel.compiler.plan.aggregates import ROWS
from ouzel.compiler.types import DecimalType, Field, FloatType, IntegerType
from ouzel.reconcile.explaining.classes import Class
from ouzel.reconcile.explaining.late import Dropper
from ouzel.reconcile.reconciliation import SHOWN, Difference, Reconciliation
from ouzel.reconcile.report.chart import chart, colour_of, width_in_words
from ouzel.reconcile.report.style import STYLE
from ouzel.spark.batch.period import EPOCH, moment_text

LONGEST = 200
"""Characters of a value that the page shows."""

NARROW = 3
"""Columns of a small table that a phone has room for."""

WRAPPED = 40
"""A longer value is wrapped, so that one of them does not push the columns behind it out of sight."""

PAGE = Template("""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>$title</title>
<style>$style</style>
</head>
<body>
<main>
<h1>$title</h1>
<p class="sub">$subtitle</p>
$body
<footer>Made by ouzel reconcile. Times are UTC.</footer>
</main>
</body>
</html>
""")


def page(found: Reconciliation) -> str:
    """The whole page."""
    record = found.record
    part = f", {found.cut}" if found.cut else ""
    subtitle = f"The topology's answer on {record.engine}, {record.delivery}, beside that of the PySpark job over the same input{part}"
    sections = [
        _verdict(found), _figures(found), *(f'<p class="note">{escape(note)}</p>' for note in found.notes),
        _classes(found), _timeline(found), _rows(found), _show_dropped(found), _rounds(found),
        _plans(found), _query(found), _offsets(found), _events(found),
        _settings(found),
    ]  # fmt: skip
    return PAGE.substitute(
        title=escape(f"{record.query}: stream and batch"),
        style=STYLE,
        subtitle=escape(subtitle),
        body="\n".join(sections),
    )


def verdict(found: Reconciliation) -> str:
    """The outcome in one sentence."""
    if found.tampered:
        changed, rows = _files(len(found.tampered)), _count_rows(found.unexplained)
        return f"The stream's answer is not what the run wrote: {changed}, {rows} unexplained."
    if not found.differing:
        return f"Stream and batch agree: {_count_rows(found.matched)}, no difference."
    if found.explained:
        return f"Stream and batch agree but for {_count_rows(found.differing)}, each of which is explained."
    return f"Stream and batch differ: {_count_rows(found.unexplained)} without an explanation."


def _files(number: int) -> str:
    return f"{number:,} file{'' if number == 1 else 's'} changed since"


def _count_rows(rows: int) -> str:
    return f"{rows:,} row{'' if rows == 1 else 's'}"


def _verdict(found: Reconciliation) -> str:
    tone = "bad" if not found.explained else "warn" if found.differing else "good"
    keys = ", ".join(found.facts.keys)
    how = f"Rows are told apart by {keys}" if keys else "Rows are compared as multisets"
    return (
        f'<div class="verdict {tone}"><strong>{escape(verdict(found))}</strong>'
        f"<span>{escape(how)}; floats within a relative {_small(found.tolerance)} count as equal.</span>{_show_tampered(found)}</div>"
    )


def _show_tampered(found: Reconciliation) -> str:
    lines = "".join(f"<li>{escape(each)}</li>" for each in found.tampered)
    return f"<ul>{lines}</ul>" if lines else ""


def _small(number: float) -> str:
    return f"{number:g}".replace("e-0", "e-")


def _figures(found: Reconciliation) -> str:
    figures = (
        (found.stream_rows, "rows in the stream's answer"),
        (found.batch_rows, "rows in the batch job's"),
        (found.matched, "are in both"),
        (found.differing, "differ"),
    )
    return f'<div class="figures">{"".join(f"<div><b>{number:,}</b><span>{text}</span></div>" for number, text in figures)}</div>'


def _classes(found: Reconciliation) -> str:
    if not found.counts:
        return ""
    lines = [
        f"<tr><td>{_mark(kind)}{kind.value}</td><td>{count:,}</td><td>{escape(kind.meaning)}</td></tr>"
        for kind, count in ((kind, found.counts[kind]) for kind in _order(found))
    ]
    return f'<h2>Why they differ</h2><div class="card"><table class="classes">{"".join(lines)}</table></div>'


def _order(found: Reconciliation) -> list[Class]:
    """The classes, what nothing explains first."""
    return sorted(found.counts, key=lambda kind: kind.explained)


def _mark(kind: Class) -> str:
    return f'<span class="mark" style="background:{colour_of(kind)}"></span>'


def _timeline(found: Reconciliation) -> str:
    if found.timeline is None or not found.differing:
        return ""
    text = f"Rows that differ, by {found.facts.time}; each bar is {width_in_words(found.timeline.width_us)}, and leads to its rows."
    drawn = chart(found.timeline, lambda kind, number: _anchor(found, kind, number))
    return f'<h2>When they differ</h2><div class="card">{drawn}<p class="caption">{escape(text)}</p></div>'


def _anchor(found: Reconciliation, kind: Class, number: int) -> str:
    """The id of the first row shown of a class in a slice; of the class where no such row is shown, or all are folded away."""
    shown = not kind.explained and number in map(partial(_slice, found), found.samples[kind])
    return f"{_id(kind)}-{number}" if shown else _id(kind)


def _id(kind: Class) -> str:
    return kind.value.replace(" ", "-")


def _slice(found: Reconciliation, row: Difference) -> int | None:
    """The slice of the chart that the row is in."""
    if found.timeline is None or found.facts.time is None:
        return None
    at = row.row[found.facts.columns.names.index(found.facts.time)]
    if at is None:
        return None
    since = datetime(at.year, at.month, at.day) if not isinstance(at, datetime) else at.replace(tzinfo=None)
    return ((since - EPOCH) // timedelta(microseconds=1) - found.timeline.first_us) // found.timeline.width_us


def _rows(found: Reconciliation) -> str:
    if not found.counts:
        return ""
    return "<h2>The rows</h2>" + "".join(_rows_of(found, kind) for kind in _order(found))


def _rows_of(found: Reconciliation, kind: Class) -> str:
    rows, count = found.samples[kind], found.counts[kind]
    shown = f"{count:,}" if count <= SHOWN else f"the first {len(rows)} of {count:,}"
    mixed = any(map(_missing, rows)) and kind not in (Class.ONLY_STREAM, Class.ONLY_BATCH)
    places = _places(found, rows)
    columns = tuple(found.facts.columns)
    head = "<th></th>" * mixed + "".join(
        f"<th{_align(columns[place])}>{escape(columns[place].name)}</th>" for place in places
    )
    sides = [f'<td class="missing">{_missing(row)}</td>' * mixed for row in rows]
    opened = [f"<tr{anchor}>" for anchor in _anchors(found, kind, rows)]
    cells = ["".join(_cell(found, row, place, columns[place]) for place in places) for row in rows]
    body = "".join(f"{tr}{side}{row}</tr>" for tr, side, row in zip(opened, sides, cells, strict=True))
    soft = " soft" if kind.explained else ""
    return (
        f'<details id="{_id(kind)}"{"" if kind.explained else " open"}>'
        f"<summary>{_mark(kind)}{kind.value}<small>{shown}</small></summary>"
        f'<div class="scroll{soft}"><table class="rows cards"><tr>{head}</tr>{body}</table></div></details>'
    )


def _places(found: Reconciliation, rows: Sequence[Difference]) -> list[int]:
    """The columns as they are shown: what tells rows apart, then what differs, then the rest."""
    differing = {name for row in rows for name in row.differing}
    names = found.facts.columns.names
    return sorted(
        range(len(names)), key=lambda place: (names[place] not in found.facts.keys, names[place] not in differing)
    )


def _anchors(found: Reconciliation, kind: Class, rows: Sequence[Difference]) -> Iterator[str]:
    """An id for the first row of each slice of the chart."""
    seen: set[int | None] = {None}
    for row in rows:
        number = _slice(found, row)
        yield "" if number in seen else f' id="{_id(kind)}-{number}"'
        seen.add(number)


def _missing(row: Difference) -> str:
    """Which answer does not have the row."""
    return "not in the stream" if row.stream is None else "not in the batch" if row.batch is None else ""


def _show_dropped(found: Reconciliation) -> str:
    """The rows that the stream dropped as late."""
    if not found.dropped:
        return ""
    return "<h2>Dropped as late</h2>" + "".join(map(_show_dropper, found.dropped))


def _show_dropper(dropper: Dropper) -> str:
    rows = dropper.sample
    columns = dropper.columns
    sides = {name: _side([row.get(name) for row in rows]) for name in columns}
    head = "".join(f"<th{sides[name]}>{escape(shown)}</th>" for name, shown in columns.items())
    body = "".join(
        "<tr>" + "".join(f"<td{side}>{_value(row.get(name))}</td>" for name, side in sides.items()) + "</tr>"
        for row in rows
    )
    shown = f"{dropper.rows:,}" if dropper.rows <= len(rows) else f"the first {len(rows)} of {dropper.rows:,}"
    return (
        f"<details><summary>{_mark(Class.LATE)}{escape(dropper.component)}<small>{shown}</small></summary>"
        f'<p class="about">{escape(_tell(dropper))}</p>'
        f'<div class="scroll"><table class="rows"><tr>{head}</tr>{body}</table></div></details>'
    )


def _tell(dropper: Dropper) -> str:
    if not dropper.combined:
        return "Each row as it reached the aggregate."
    text = "Each row as the aggregate counts it: its keys, and the results of a group that has nothing else."
    return text + " Some were added up before they came, so that they are only counted." * (ROWS in dropper.columns)


def _side(values: Sequence[Any]) -> str:
    return ' class="number"' if any(isinstance(value, int | float) for value in values) else ""


def _cell(found: Reconciliation, row: Difference, number: int, field: Field) -> str:
    if field.name in row.differing and row.stream is not None and row.batch is not None:
        sides = (("stream", row.stream[number]), ("batch", row.batch[number]))
        pair = "".join(f"<i>{side}</i><b>{_value(value)}</b>" for side, value in sides)
        return f'<td{_label(field)}{_align(field, "differs")}><span class="pair">{pair}</span></td>'
    return f"<td{_label(field)}{_align(field, 'key' if field.name in found.facts.keys else '')}>{_value(row.row[number])}</td>"


def _label(field: Field) -> str:
    """The column's name, which a phone shows beside the value where it has no room for a table."""
    return f' data-label="{escape(field.name)}"'


def _align(field: Field, also: str = "") -> str:
    number = isinstance(field.type, IntegerType | FloatType | DecimalType)
    names = " ".join(name for name in ("number" if number else "", also) if name)
    return f' class="{names}"' if names else ""


def _value(value: Any) -> str:
    match value:
        case None:
            return '<span class="null">NULL</span>'
        case datetime():
            return escape(_moment(value))
        case Decimal():
            return escape(format(value, "f"))
        case bytes() | bytearray():
            text = "0x" + value.hex()
        case _:
            text = str(value)
    shown = escape(text if len(text) <= LONGEST else text[: LONGEST - 1] + "…")
    return f'<span class="long">{shown}</span>' if len(text) > WRAPPED else shown


def _moment(at: datetime) -> str:
    """A time without trailing zeros."""
    text = at.replace(tzinfo=None).isoformat(" ")
    return text.removesuffix(":00").removesuffix(" 00:00") + ("" if at.tzinfo is None else "Z")


def _rounds(found: Reconciliation) -> str:
    """The rounds of a watch, a line each."""
    if not found.rounds:
        return ""
    rows = [
        (
            f"{look.at:%Y-%m-%d %H:%M:%S}",
            "the end" if look.closed_us is None else moment_text(look.closed_us).removesuffix(" 00:00:00"),
            ", ".join(f"{kind.value} {count:,}" for kind, count in look.counts.items()) or "no difference",
            f"{look.windows:,}",
            f"{look.matched:,}",
            f"{look.seconds:.1f}",
        )
        for look in found.rounds
    ]
    return "<h2>The rounds</h2>" + _table(
        ("at", "compared to", "differ", "windows", "rows agree", "seconds"), rows, "", 3
    )


def _plans(found: Reconciliation) -> str:
    return (
        '<h2>Both plans</h2><div class="plans">'
        f"<div><h3>The topology</h3><pre>{escape(found.topology)}</pre></div>"
        f"<div><h3>The PySpark job</h3><pre>{escape(found.job.strip())}</pre></div></div>"
    )


def _query(found: Reconciliation) -> str:
    return f"<h2>The query</h2><pre>{escape(found.record.text.strip())}</pre>"


def _offsets(found: Reconciliation) -> str:
    rows = [
        (table, partition, f"{first:,}", f"{end:,}")
        for table, parts in found.record.ranges.items()
        for partition, (first, end) in sorted(parts.items())
    ]
    empty = "The record names no offsets: the whole of each table was read."
    return "<h2>What was read</h2>" + _table(("table", "partition", "from", "up to"), rows, empty, 2)


def _events(found: Reconciliation) -> str:
    rows = [(kind, text, f"{count:,}") for kind, text, count in found.record.events]
    return "<h2>What the run told</h2>" + _table(("kind", "", "times"), rows, "Nothing out of the ordinary.", 2)


def _settings(found: Reconciliation) -> str:
    record = found.record
    given = [
        ("engine", record.engine),
        ("delivery", record.delivery),
        *record.settings,
        ("tolerance", f"{found.tolerance:g}"),
    ]
    return "<h2>Settings</h2>" + _table(("key", "value"), given, "", 2)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]], empty: str, texts: int) -> str:
    """A small table; columns from `texts` on hold numbers. On a phone, if it is wide, each line is a card."""
    lines = list(rows)
    if not lines:
        return f'<p class="empty">{escape(empty)}</p>'
    sides = ["" if number < texts else ' class="number"' for number in range(len(head))]
    top = "".join(f"<th{side}>{escape(name)}</th>" for side, name in zip(sides, head, strict=True))
    body = "".join(
        "<tr>"
        + "".join(
            f'<td{side} data-label="{name}">{escape(cell)}</td>'
            for side, name, cell in zip(sides, head, line, strict=True)
        )
        + "</tr>"
        for line in lines
    )
    wide = " cards" if len(head) > NARROW else ""
    return f'<div class="card scroll"><table class="rows{wide}"><tr>{top}</tr>{body}</table></div>'
