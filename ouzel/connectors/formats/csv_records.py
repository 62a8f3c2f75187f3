"""The grammar of CSV over bytes (RFC 4180): where records end, and how each is made. Loops over columns of bytes, compiled by Numba."""

from __future__ import annotations

import numpy as np
from numba import types

from ouzel.connectors.formats.compiled import compiled

BYTES = types.Array(types.uint8, 1, "C", readonly=True)
PLACES = types.Array(types.int64, 1, "C", readonly=True)
PLACES_OUT = types.Array(types.int64, 1, "C")
FACTS_OUT = types.Array(types.int64, 2, "C")

_LF, _CR = 10, 13
_FIELD_START, _BARE, _QUOTED, _QUOTE_IN_QUOTED = 0, 1, 2, 3

PLAIN, QUOTE_IN_BARE, AFTER_QUOTE, UNCLOSED, LINE_END = range(5)
"""What a record has that not every reader takes alike; the last three are faults."""

FIELDS, KIND, FIELD, AT = 0, 1, 2, 3
"""Places in a record's facts: how many fields, one of the above, in which field, and where that field starts."""


@compiled(types.int64(BYTES, types.int64, types.int64, types.int64, PLACES_OUT, PLACES_OUT))
def _find_ends(data, quote, delimiter, limit, ends, lines):  # type: ignore[no-untyped-def]
    """Fill in the places of line ends that end a record and how many lines there are up to each; returns how many.

    Inside quotes a line end is text, up to `limit` bytes into the record.
    """
    found = line = start = 0
    state = _FIELD_START
    for place in range(data.size):
        byte = data[place]
        if byte == _LF:
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
def _judge(data, starts, ends, quote, delimiter, facts):  # type: ignore[no-untyped-def]
    """Fill in each record's facts; its worst kind is told, and where it comes first."""
    for record in range(starts.size):
        start, end = starts[record], ends[record]
        if end > start and data[end - 1] == _CR:
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
                elif byte == _LF:
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


def find_ends(data: np.ndarray, quote: int, delimiter: int, limit: int) -> tuple[np.ndarray, np.ndarray]:
    """The places of line ends that end a record, and the number of lines up to each; inside quotes a line end is text.

    A record whose quote nothing closes ends with the first line end that is `limit` bytes or more behind its start.
    """
    room = int(np.count_nonzero(data == _LF))
    ends, lines = np.empty(room, np.int64), np.empty(room, np.int64)
    found = _find_ends(data, quote, delimiter, limit, ends, lines)
    return ends[:found], lines[:found]


def judge_records(data: np.ndarray, starts: np.ndarray, ends: np.ndarray, quote: int, delimiter: int) -> np.ndarray:
    """Facts of each record in a row: FIELDS, KIND, FIELD, AT."""
    facts = np.empty((len(starts), 4), np.int64)
    _judge(data, starts, ends, quote, delimiter, facts)
    return facts


def split(record: bytes, quote: bytes, delimiter: bytes) -> list[bytes]:
    """The fields of one record that has no faults."""
    fields: list[bytes] = []
    at = 0
    while True:
        if quote and record.startswith(quote, at):
            end = at + 1
            while record.startswith(quote, (close := record.index(quote, end)) + 1):
                end = close + 2
            fields.append(record[at + 1 : close].replace(quote + quote, quote))
            end = close + 1
        else:
            end = record.find(delimiter, at)
            end = len(record) if end < 0 else end
            fields.append(record[at:end])
        if end == len(record):
            return fields
        at = end + 1


def count_fields(data: np.ndarray, starts: np.ndarray, ends: np.ndarray, delimiter: int) -> np.ndarray:
    """The same of records that have no quote, no CR and no line end in them, at a multiple of the speed."""
    facts = np.zeros((len(starts), 4), np.int64)
    places = np.flatnonzero(data == delimiter)
    facts[:, FIELDS] = np.searchsorted(places, ends) - np.searchsorted(places, starts) + 1
    return facts
