"""The page: verdict, counts, chart, rows of each class, both plans, offsets, events and settings. Nothing outside of it is needed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from decimal import Decimal
from html import escape
from string import Template
from typing import Any

from ouzel.compiler.functions.aggregates import ROWS
from ouzel.compiler.types import DecimalType, Field, FloatType, IntegerType
from ouzel.reconcile.classes import Class
from ouzel.reconcile.late import Dropper
from ouzel.reconcile.reconciliation import SHOWN, Difference, Reconciliation
from ouzel.reconcile.report.chart import chart, colour_of, width_in_words
from ouzel.reconcile.report.style import STYLE

LONGEST = 200
"""Characters of a value that the page shows."""

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
        _classes(found), _timeline(found), _rows(found), _dropped(found), _plans(found), _query(found), _offsets(found), _events(found),
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
    if not found.differing:
        return f"Stream and batch agree: {_counted(found.matched)}, no difference."
    if found.explained:
        return f"Stream and batch agree but for {_counted(found.differing)}, each of which is explained."
    return f"Stream and batch differ: {_counted(found.unexplained)} without an explanation."


def _counted(rows: int) -> str:
    return f"{rows:,} row{'' if rows == 1 else 's'}"


def _verdict(found: Reconciliation) -> str:
    tone = "bad" if found.unexplained else "warn" if found.differing else "good"
    keys = ", ".join(found.facts.keys)
    how = f"Rows are told apart by {keys}" if keys else "Rows are compared as multisets"
    return (
        f'<div class="verdict {tone}"><strong>{escape(verdict(found))}</strong>'
        f"<span>{escape(how)}; floats within a relative {_small(found.tolerance)} count as equal.</span></div>"
    )


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
        for kind, count in found.counts.items()
    ]
    return f'<h2>Why they differ</h2><div class="card"><table class="classes">{"".join(lines)}</table></div>'


def _mark(kind: Class) -> str:
    return f'<span class="mark" style="background:{colour_of(kind)}"></span>'


def _timeline(found: Reconciliation) -> str:
    if found.timeline is None or not found.differing:
        return ""
    text = f"Rows that differ, by {found.facts.time}; each bar is {width_in_words(found.timeline.width_us)}."
    return (
        f'<h2>When they differ</h2><div class="card">{chart(found.timeline)}<p class="caption">{escape(text)}</p></div>'
    )


def _rows(found: Reconciliation) -> str:
    if not found.counts:
        return ""
    kinds = sorted(found.counts, key=lambda kind: kind.explained)
    return "<h2>The rows</h2>" + "".join(_rows_of(found, kind) for kind in kinds)


def _rows_of(found: Reconciliation, kind: Class) -> str:
    rows, count = found.samples[kind], found.counts[kind]
    shown = f"{count:,}" if count <= SHOWN else f"the first {len(rows)} of {count:,}"
    mixed = any(map(_missing, rows)) and kind not in (Class.ONLY_STREAM, Class.ONLY_BATCH)
    head = "<th></th>" * mixed + "".join(
        f"<th{_align(field)}>{escape(field.name)}</th>" for field in found.facts.columns
    )
    sides = [f'<td class="missing">{_missing(row)}</td>' * mixed for row in rows]
    body = "".join(f"<tr>{side}{_row(found, row)}</tr>" for side, row in zip(sides, rows, strict=True))
    soft = " soft" if kind.explained else ""
    return (
        f"<details{'' if kind.explained else ' open'}><summary>{_mark(kind)}{kind.value}<small>{shown}</small></summary>"
        f'<div class="scroll{soft}"><table class="rows"><tr>{head}</tr>{body}</table></div></details>'
    )


def _missing(row: Difference) -> str:
    """Which answer does not have the row."""
    return "not in the stream" if row.stream is None else "not in the batch" if row.batch is None else ""


def _dropped(found: Reconciliation) -> str:
    """The rows that the stream dropped as late."""
    if not found.dropped:
        return ""
    return "<h2>Dropped as late</h2>" + "".join(map(_dropped_by, found.dropped))


def _dropped_by(dropper: Dropper) -> str:
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
        f'<p class="about">{escape(_told(dropper))}</p>'
        f'<div class="scroll"><table class="rows"><tr>{head}</tr>{body}</table></div></details>'
    )


def _told(dropper: Dropper) -> str:
    if not dropper.combined:
        return "Each row as it reached the aggregate."
    text = "Each row as the aggregate counts it: its keys, and the results of a group that has nothing else."
    return text + " Some were added up before they came, so that they are only counted." * (ROWS in dropper.columns)


def _side(values: Sequence[Any]) -> str:
    return ' class="number"' if any(isinstance(value, int | float) for value in values) else ""


def _row(found: Reconciliation, row: Difference) -> str:
    return "".join(_cell(found, row, number, field) for number, field in enumerate(found.facts.columns))


def _cell(found: Reconciliation, row: Difference, number: int, field: Field) -> str:
    if field.name in row.differing and row.stream is not None and row.batch is not None:
        sides = (("stream", row.stream[number]), ("batch", row.batch[number]))
        pair = "".join(f"<i>{side}</i><b>{_value(value)}</b>" for side, value in sides)
        return f'<td{_align(field, "differs")}><span class="pair">{pair}</span></td>'
    return f"<td{_align(field, 'key' if field.name in found.facts.keys else '')}>{_value(row.row[number])}</td>"


def _align(field: Field, also: str = "") -> str:
    number = isinstance(field.type, IntegerType | FloatType | DecimalType)
    names = " ".join(name for name in ("number" if number else "", also) if name)
    return f' class="{names}"' if names else ""


def _value(value: Any) -> str:
    match value:
        case None:
            return '<span class="null">NULL</span>'
        case datetime():
            return escape(value.isoformat(" "))
        case Decimal():
            return escape(format(value, "f"))
        case bytes() | bytearray():
            text = "0x" + value.hex()
        case _:
            text = str(value)
    shown = escape(text if len(text) <= LONGEST else text[: LONGEST - 1] + "…")
    return f'<span class="long">{shown}</span>' if len(text) > WRAPPED else shown


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
    """A small table; columns from `texts` on hold numbers."""
    lines = list(rows)
    if not lines:
        return f'<p class="empty">{escape(empty)}</p>'
    sides = ["" if number < texts else ' class="number"' for number in range(len(head))]
    top = "".join(f"<th{side}>{escape(name)}</th>" for side, name in zip(sides, head, strict=True))
    body = "".join(
        "<tr>" + "".join(f"<td{side}>{escape(cell)}</td>" for side, cell in zip(sides, line, strict=True)) + "</tr>"
        for line in lines
    )
    return f'<div class="card scroll"><table class="rows"><tr>{top}</tr>{body}</table></div>'
