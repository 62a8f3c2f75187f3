"""The grammar of CSV over bytes (RFC 4180): where records end, and how each is made."""

from __future__ import annotations

import numpy as np

from ouzel.connectors.formats.csv.facts import FIELDS, LF


def find_ends(data: np.ndarray, quote: int, delimiter: int, limit: int) -> tuple[np.ndarray, np.ndarray]:
    """The places of line ends that end a record, and the number of lines up to each; inside quotes a line end is text.

    A record whose quote nothing closes ends with the first line end that is `limit` bytes or more behind its start.
    """
    room = int(np.count_nonzero(data == LF))
    ends, lines = np.empty(room, np.int64), np.empty(room, np.int64)
    from ouzel.connectors.formats.csv import kernels as csv_kernels

    found = csv_kernels.scan_ends(data, quote, delimiter, limit, ends, lines)
    return ends[:found], lines[:found]


def judge_records(data: np.ndarray, starts: np.ndarray, ends: np.ndarray, quote: int, delimiter: int) -> np.ndarray:
    """Facts of each record in a row: FIELDS, KIND, FIELD, AT."""
    facts = np.empty((len(starts), 4), np.int64)
    from ouzel.connectors.formats.csv import kernels as csv_kernels

    csv_kernels.judge(data, starts, ends, quote, delimiter, facts)
    return facts


def split_fields(record: bytes, quote: bytes, delimiter: bytes) -> list[bytes | None]:
    """The fields of one record that has no faults; None is a field of no bytes, without even quotes."""
    fields: list[bytes | None] = []
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
            fields.append(record[at:end] or None)
        if end == len(record):
            return fields
        at = end + 1


def count_fields(data: np.ndarray, starts: np.ndarray, ends: np.ndarray, delimiter: int) -> np.ndarray:
    """The same of records that have no quote, no CR and no line end in them, at a multiple of the speed."""
    facts = np.zeros((len(starts), 4), np.int64)
    places = np.flatnonzero(data == delimiter)
    facts[:, FIELDS] = np.searchsorted(places, ends) - np.searchsorted(places, starts) + 1
    return facts
