"""What a format is: a decoder of many records at once, and an encoder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import polars as pl

from ouzel.connectors.base import Option


@dataclass(frozen=True)
class Format:
    """One row of the table of formats.

    Attributes:
        name: what 'format' = says.
        doc: one line.
        options: its options.
        decoder: `module:function` that makes a decoder; empty if nothing is read in it.
        encoder: `module:function` that makes an encoder; empty if nothing is written in it.
        quoted: the option that lists the columns whose names are quoted in the table's definition; empty if that makes no difference.
        changelog: its records take rows back, so its decoder gives weights.
        readable_only: nothing is written in it.
        files: the options that name a file.
        one_of: the options of which exactly one is given.
        many: one record may be several rows; such a record has no key.
        kernels: the module whose import takes long because of Numba. A server imports it once, before it forks the tasks that read.
    """

    name: str
    doc: str
    options: tuple[Option, ...] = ()
    decoder: str = ""
    encoder: str = ""
    quoted: str = ""
    changelog: bool = False
    readable_only: bool = False
    files: tuple[str, ...] = ()
    one_of: tuple[str, ...] = ()
    many: bool = False
    kernels: str = ""


_PACKED = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"\x78\x01", b"\x78\x9c", b"\x78\xda")
"""How gzip, zstd and zlib begin."""


def looks_packed(data: bytes) -> bool:
    """Whether the bytes begin like compressed ones, which Polars' readers unpack unasked."""
    return data.startswith(_PACKED)


class Records:
    """Raw records side by side: record i is `blob[starts[i]:ends[i]]`, and one byte (a newline) stands between two of them."""

    __slots__ = ("blob", "ends", "starts")

    def __init__(self, blob: bytes, starts: np.ndarray, ends: np.ndarray) -> None:
        self.blob, self.starts, self.ends = blob, starts, ends

    @classmethod
    def of(cls, values: Sequence[bytes]) -> Records:
        """Records from separate values."""
        lengths = np.fromiter(map(len, values), np.int64, len(values))
        ends = np.cumsum(lengths + 1) - 1
        return cls(b"\n".join(values) + b"\n", ends - lengths, ends)

    def __len__(self) -> int:
        return len(self.starts)

    def __getitem__(self, index: int) -> bytes:
        return self.blob[self.starts[index] : self.ends[index]]

    def values(self) -> list[bytes]:
        """All records as separate values."""
        return [self.blob[start:end] for start, end in zip(self.starts.tolist(), self.ends.tolist(), strict=True)]

    def pick(self, indices: Sequence[int]) -> Records:
        """Only these records, in this order."""
        return Records.of([self[index] for index in indices])


@dataclass(slots=True)
class Decoded:
    """The good records as rows; `kept` are their indices, None for all; `bad` are (index, reason) of the others, in order.

    `notes` are sentences for the user, each said once. Of a changelog a record may be two rows, and `weights` are +1 or -1 for each.
    """

    frame: pl.DataFrame
    kept: np.ndarray | None = None
    bad: Sequence[tuple[int, str]] = ()
    notes: Sequence[str] = ()
    weights: np.ndarray | None = None

    def weighed(self, frame: pl.DataFrame, name: str) -> pl.DataFrame:
        """A frame of the same rows with their weights, if they have any, in a column of that name behind the others."""
        if self.weights is None:
            return frame
        return frame.with_columns(pl.Series(name, self.weights, pl.Int64()))


class Decoder(Protocol):
    """Makes rows of records. Every record becomes exactly one row, of a changelog one or two, or one bad record."""

    def decode(self, records: Records) -> Decoded:
        """Decode all of them; never raises for what a record holds."""


class Encoder(Protocol):
    """Makes records of rows."""

    def encode(self, frame: pl.DataFrame) -> list[bytes]:
        """One record a row, without a line end."""

    def lines(self, frame: pl.DataFrame) -> bytes:
        """All rows as lines of a file, without a header."""

    def header(self) -> bytes:
        """What a file starts with."""
