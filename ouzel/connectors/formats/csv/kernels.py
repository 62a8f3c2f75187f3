"""Loops over columns of bytes for the grammar of CSV, compiled by Numba."""

from __future__ import annotations

from numba import types

from ouzel.connectors.formats.compiled import compiled
from ouzel.connectors.formats.csv.facts import (
    AFTER_QUOTE,
    AT,
    CR,
    FIELD,
    FIELDS,
    KIND,
    LF,
    LINE_END,
    PLAIN,
    QUOTE_IN_BARE,
    UNCLOSED,
)

BYTES = types.Array(types.uint8, 1, "C", readonly=True)
PLACES = types.Array(types.int64, 1, "C", readonly=True)
PLACES_OUT = types.Array(types.int64, 1, "C")
FACTS_OUT = types.Array(types.int64, 2, "C")

_FIELD_START, _BARE, _QUOTED, _QUOTE_IN_QUOTED = 0, 1, 2, 3


@compiled(types.int64(BYTES, types.int64, types.int64, types.int64, PLACES_OUT, PLACES_OUT))
def scan_ends(data, quote, delimiter, limit, ends, lines):  # type: ignore[no-untyped-def]
    """Fill in the places of the line ends that end a record, and the number of lines up to each; returns the number of records.

    A line end inside quotes is text, unless it is more than `limit` bytes into the record.
    """
    found = line = start = 0
    state = _FIELD_START
    for place in range(data.size):
        byte = data[place]
        if byte == LF:
            line += 1
            if state != _QUOTED or place - start >= limit:
                ends[found] = place
                lines[found] = line
                found += 1
                start = place + 1
                state = _FIELD_START
        elif state == _QUOTED:
            if byte == quote:
                state = _QUOTE_IN_QUOTED
        elif byte == delimiter:
            state = _FIELD_START
        elif byte == quote and state != _BARE:
            state = _QUOTED
        else:
            state = _BARE
    return found


@compiled(types.void(BYTES, PLACES, PLACES, types.int64, types.int64, FACTS_OUT))
def judge(data, starts, ends, quote, delimiter, facts):  # type: ignore[no-untyped-def]
    """Fill in the facts of each record, among them the worst kind of its fields and the first place of that kind."""
    for record in range(starts.size):
        start, end = starts[record], ends[record]
        if end > start and data[end - 1] == CR:
            end -= 1
        state = _FIELD_START
        fields, field_at = 1, start
        kind, in_field, at = PLAIN, 0, start
        for place in range(start, end):
            byte = data[place]
            new = PLAIN
            if state == _QUOTED:
                if byte == quote:
                    state = _QUOTE_IN_QUOTED
            elif byte == delimiter:
                state = _FIELD_START
                fields += 1
                field_at = place + 1
            elif byte == quote and state != _BARE:
                state = _QUOTED
            else:
                if state == _QUOTE_IN_QUOTED:
                    new = AFTER_QUOTE
                elif byte == quote:
                    new = QUOTE_IN_BARE
                elif byte == LF:
                    new = LINE_END
                state = _BARE
            if new > kind:
                kind, in_field, at = new, fields - 1, field_at
        if state == _QUOTED and kind < AFTER_QUOTE:
            kind, in_field, at = UNCLOSED, fields - 1, field_at
        facts[record, FIELDS] = fields
        facts[record, KIND] = kind
        facts[record, FIELD] = in_field
        facts[record, AT] = at - start
