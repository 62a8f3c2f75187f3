"""Constants that are allowed and hardly meant: values that are never given, and a text in place of a name or a pattern."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, datetime, timedelta
from decimal import Decimal

from sqlglot import exp

from ouzel.compiler.expressions import Call, Cast, Column, Expression, Literal
from ouzel.compiler.plan import Node
from ouzel.compiler.sql.queries.scope import Relation
from ouzel.compiler.sql.syntax.places import call_name, place
from ouzel.compiler.sql.syntax.source import QueryText
from ouzel.compiler.types import VARCHAR, IntegerType, TimestampType

_RANGES: dict[str, tuple[int, int, str]] = {
    "dayofweek": (1, 7, "1 (Sunday) to 7 (Saturday)"), "weekday": (0, 6, "0 (Monday) to 6 (Sunday)"), "month": (1, 12, "1 to 12"),
    "quarter": (1, 4, "1 to 4"), "weekofyear": (1, 53, "1 to 53"), "dayofmonth": (1, 31, "1 to 31"), "dayofyear": (1, 366, "1 to 366"),
    "hour": (0, 23, "0 to 23"), "minute": (0, 59, "0 to 59"), "second": (0, 59, "0 to 59"),
}  # fmt: skip
"""Parts of a time: their least and their largest value, and how these are told."""
_NAMES = {
    "dayname": ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"),
    "monthname": ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"),
}
"""All that a function gives."""

WrittenPart = tuple[exp.Expr, Expression]
"""An operand of a comparison as it is written, and what is bound of it."""


def note_compared(source: QueryText, relation: Relation, sign: str, left: WrittenPart, right: WrittenPart) -> None:
    """Tell of constants in a comparison of two values."""
    if sign in ("=", "<>"):
        for one, other in ((left, right), (right, left)):
            note_equal(source, one, [other])
    if sign in ("=", "<>", "<", "<=", ">", ">="):
        _note_quoted(source, relation, sign, left, right)


def note_equal(source: QueryText, value: WrittenPart, others: Sequence[WrittenPart]) -> None:
    """Tell of constants that a part of a time, or its name, is never equal to."""
    call, at = value[1], place(value[0])
    if not isinstance(call, Call) or not all(isinstance(constant, Literal) for _, constant in others):
        return
    shown = source.text[slice(*at)]
    if call.function in _RANGES:
        _note_range(source, shown, call.function, others)
    for node, constant in others if call.function in _NAMES else ():
        names = _NAMES[call.function]
        text = constant.value if isinstance(constant, Literal) else None
        if isinstance(text, str) and text not in names:
            meant = next((name for name in names if name.lower() == text[:3].lower()), "")
            if any(isinstance(other, Literal) and other.value == meant for _, other in others):
                continue  # both are named, for engines that give one of them
            advice = f"write '{meant}'" if meant else f"write one of {_write_texts(names)}"
            source.note(f"{shown} is '{names[0]}' to '{names[-1]}' and never '{text}'", place(node), advice)


def _note_range(source: QueryText, shown: str, function: str, others: Sequence[WrittenPart]) -> None:
    low, high, told = _RANGES[function]
    numbers = [
        constant.value for _, constant in others if isinstance(constant, Literal) and isinstance(constant.value, int)
    ]
    wrong = [(node, number) for (node, _), number in zip(others, numbers, strict=False) if not low <= number <= high]
    if len(numbers) != len(others) or not wrong:
        return
    advice = f"write a number from {low} to {high}"
    if function == "dayofweek" and all(0 <= number < 7 for number in numbers):  # as PostgreSQL counts them
        moved = ", ".join(str(number + 1) for number in numbers)
        advice = f"write {'IN (' * (len(numbers) > 1)}{moved}{')' * (len(numbers) > 1)} if 0 is meant to be Sunday"
    elif function == "hour" and wrong[0][1] == high + 1:
        advice = "write 0 for midnight"
    source.note(f"{shown} is {told} and never {wrong[0][1]}", place(wrong[0][0]), advice)


def _note_quoted(source: QueryText, relation: Relation, sign: str, left: WrittenPart, right: WrittenPart) -> None:
    """Tell of 'city' = 'Berlin', in which a column stands in the quotes of texts."""
    texts = [_text_of(value) for _, value in (left, right)]
    names = {column.name.lower(): column.name for column in relation.columns}
    columns = [names.get(text.lower(), "") if text is not None else "" for text in texts]
    if None in texts or texts[0] == texts[1] or bool(columns[0]) == bool(columns[1]):
        return
    shown = [source.text[slice(*place(node))] for node, _ in (left, right)]
    meant = [column or text for column, text in zip(columns, shown, strict=True)]
    problem = f"{shown[0]} {sign} {shown[1]} compares two texts, and is the same for all rows"
    source.note(problem, (place(left[0])[0], place(right[0])[1]), f"write {meant[0]} {sign} {meant[1]}")


def note_list(source: QueryText, node: exp.Expr, values: Sequence[Expression]) -> None:
    """Tell of constants behind IN that its value is never equal to, and of one text that holds the whole list."""
    others = list(zip(node.expressions, values[1:], strict=True))
    note_equal(source, (node.this, values[0]), others)
    text = _text_of(others[0][1]) if len(others) == 1 else None
    parts = _split_words(text or "")
    if parts and not isinstance(values[0], Literal):
        advice = f"write {_write_texts(parts)}, or {'<>' if isinstance(node.parent, exp.Not) else '='} '{text}' if one is meant"
        source.note(f"'{text}' is one text with commas in it, and no list", place(others[0][0]), advice)


def note_days(source: QueryText, relation: Relation, node: exp.Expr, values: Sequence[Expression]) -> None:
    """Tell of ts BETWEEN '2026-03-27' AND '2026-03-28', which leaves out all of the 28th but its midnight."""
    time, first, last = values[0], _day_of(values[1]), _day_of(values[2])
    if not isinstance(time, Column) or not isinstance(time.type, TimestampType) or first is None or last is None:
        return
    if first > last or isinstance(node.parent, exp.Not) or not is_moment(relation.node, time.name):
        return
    shown, high = (source.text[slice(*place(part))] for part in (node.this, node.args["high"]))
    problem = f"BETWEEN ends at the midnight with which {high} begins, and leaves out the rest of that day"
    advice = f"write {shown} >= '{first}' AND {shown} < '{last + timedelta(days=1)}'"
    source.note(problem, (place(node.args["low"])[0], place(node.args["high"])[1]), advice)


def _day_of(value: Expression) -> date | None:
    """The day of a DATE, or of a text that says no time."""
    day = value.operand if isinstance(value, Cast) else value
    written = day.value if isinstance(day, Literal) else None
    if isinstance(written, date) and not isinstance(written, datetime):
        return written
    if not isinstance(written, str) or not re.fullmatch(r"\d{4}-\d\d-\d\d", written):
        return None
    try:
        return date.fromisoformat(written)
    except ValueError:
        return None


def is_moment(node: Node, name: str) -> bool:
    """Whether a column is one of a table, and no start of a window and nothing that DATE_TRUNC has cut, which midnights are."""
    table, column = find_origin(node, name)
    return bool(table) and re.search("(?i)day|date|midnight", column) is None


def find_origin(node: Node, name: str) -> tuple[str, str]:
    """The table that a column is of, unchanged, and its name there; both are empty if it is computed."""
    while node.inputs:
        if name not in node.origins:
            return "", ""
        at, name = node.origins[name]
        node = node.inputs[at]
    return (node.reads_table, name) if node.reads_table else ("", "")


def _split_words(text: str) -> list[str]:
    """The words of a text such as 'Berlin, New York'; none if it is no list of short words."""
    parts = [part.strip(" '\"") for part in text.split(",")]
    return parts if len(parts) > 1 and all(re.fullmatch(r"[\w.-]+(?: [\w.-]+){0,2}", part) for part in parts) else []


def note_quotient(source: QueryText, sign: str, left: WrittenPart, right: WrittenPart) -> None:
    """Tell of 15 / 100, whose whole numbers make it 0."""
    one, other = (value.value if isinstance(value, Literal) else None for _, value in (left, right))
    whole = all(isinstance(value.type, IntegerType) for _, value in (left, right))
    if sign != "/" or not whole or not isinstance(one, int) or not isinstance(other, int):
        return
    if other == 0 or one % other == 0 or _is_cut(left[0].parent):
        return
    shown = [source.text[slice(*place(node))] for node, _ in (left, right)]
    exact = Decimal(one) / Decimal(other)
    also = f", or {exact}" if int(exact.as_tuple().exponent) >= -4 else ""
    problem = (
        f"{shown[0]} / {shown[1]} is of whole numbers, and so {abs(one) // abs(other) * (1 if one * other > 0 else -1)}"
    )
    source.note(problem, (place(left[0])[0], place(right[0])[1]), f"write {one}.0 / {other}{also}")


def _is_cut(quotient: exp.Expr | None) -> bool:
    """Whether FLOOR and its like say that a whole number is meant."""
    around = quotient.parent if quotient is not None else None
    return isinstance(around, exp.Anonymous) and call_name(around) in ("floor", "trunc", "truncate", "cast", "try_cast")


def note_of_case(source: QueryText, subject: exp.Expr, when: exp.Expr) -> None:
    """Tell of CASE x WHEN NULL, which compares."""
    if isinstance(when, exp.Null):
        shown = source.text[slice(*place(subject))]
        problem = f"CASE {shown} WHEN NULL is true of no row, for it compares {shown} = NULL"
        source.note(problem, place(when), f"write CASE WHEN {shown} IS NULL THEN")


def note_pattern_text(source: QueryText, node: exp.Expr, name: str, values: Sequence[Expression]) -> None:
    """Tell of a pattern where a text is taken, and of the groups of other dialects."""
    texts = [_text_of(value) for value in values]
    if name == "regexp_replace" and len(texts) >= 3 and "(" in (texts[1] or "") and re.search(r"\\\d", texts[2] or ""):
        meant = re.sub(r"\\(\d)", r"$\1", texts[2] or "")
        number = re.search(r"\\(\d)", texts[2] or "")
        problem = f"a group is ${number[1] if number else 1} in a replacement, and no \\{number[1] if number else 1}"
        source.note(problem, place(node.expressions[2]), f"write '{meant}'")
    if name == "split" and len(texts) == 2 and texts[0] is None and (between := _between(texts[1] or "")):
        shown, pattern = (source.text[slice(*place(part))] for part in node.expressions)
        advice = f"write SPLIT(REGEXP_REPLACE({shown}, {pattern}, '{between}'), '{between}')"
        source.note(f"SPLIT takes {pattern} for a text, and no pattern", place(node.expressions[1]), advice)


def _between(pattern: str) -> str:
    r"""One character that a pattern such as \s+ and [,;]+ stands for; empty if it looks like a plain text."""
    if "\\" in pattern and re.fullmatch(r"(?:\\[swdSWD][+*]?|[,;:|-])+", pattern):
        sign = re.search("[,;:|-]", pattern)
        return sign[0] if sign else " " if pattern in (r"\s", r"\s+") else "|"
    found = re.fullmatch(r"\[([^\]^\\])[^\]]*\][+*]", pattern)
    return found[1].replace("'", "") if found else ""


def _write_texts(texts: Sequence[str]) -> str:
    return ", ".join(f"'{text}'" for text in texts)


def _text_of(value: Expression) -> str | None:
    is_text = isinstance(value, Literal) and value.type == VARCHAR
    return value.value if is_text and isinstance(value, Literal) and isinstance(value.value, str) else None
