"""Plain values as bytes: what a component written by hand gives as its snapshot.

The form is a pickle of listed types only. Both ends check it: writing refuses other types, and reading finds no other function or class, so
that bytes which somebody else has put in place of them run no code. Frames and arrays are in it as Arrow and NumPy write them.
"""

from __future__ import annotations

import io
import pickle
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

import numpy as np
import numpy.typing as npt
import polars as pl

from ouzel.errors import StateError

PLAIN = (
    "bytes or a plain value: None, numbers, texts, bytes, dates and times, tuples, lists, sets and dicts of them, a Counter, a deque or a "
    "defaultdict, frames and series of Polars, arrays of NumPy"
)
"""What is taken, as users are told."""

_PROTOCOL = 5

_TYPES: tuple[type, ...] = (
    bool, int, float, complex, str, bytes, bytearray, tuple, list, dict, set, frozenset, range, type(None),
    Counter, OrderedDict, defaultdict, deque, date, datetime, time, timedelta, timezone, Decimal, Fraction, UUID,
)  # fmt: skip
"""Types that pickle writes as they are, or as a call of themselves."""


def encode_value(value: object) -> bytes:
    """The value as bytes.

    Raises:
        TypeError: something in it is of another type.
    """
    out = io.BytesIO()
    _Encoder(out).dump(value)
    return out.getvalue()


def decode_value(data: bytes) -> Any:
    """The value again.

    Raises:
        StateError: these bytes are none that `encode_value` gives.
    """
    try:
        return _Decoder(io.BytesIO(data)).load()
    except StateError:
        raise
    except Exception as error:  # a pickle that is not whole fails anyhow
        raise StateError(f"a kept value cannot be read: {error}") from error


class _Encoder(pickle.Pickler):
    def __init__(self, out: io.BytesIO) -> None:
        super().__init__(out, _PROTOCOL)

    def reducer_override(self, value: Any) -> Any:
        """Called for all but the simplest types, before pickle does anything with the value."""
        if isinstance(value, type):
            if value in _TYPES:
                return NotImplemented
            raise TypeError(f"a snapshot is {PLAIN}; there is the class {value.__name__} in it")
        writer = _WRITERS.get(type(value))
        if writer is not None:
            return writer(value)
        if isinstance(value, np.generic) and not value.dtype.hasobject:
            return _read_scalar, (_array_bytes(np.asarray(value)),)
        if type(value) in _TYPES or any(value is one for one in _FUNCTIONS):
            return NotImplemented
        raise TypeError(f"a snapshot is {PLAIN}; there is a {type(value).__name__} in it")


class _Decoder(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        """What a pickle may call."""
        found = _FOUND.get((module, name))
        if found is None:
            raise StateError(f"a kept value holds {module}.{name}, which no snapshot writes")
        return found


def _read_frame(data: bytes) -> pl.DataFrame:
    return pl.read_ipc_stream(io.BytesIO(data))


def _read_series(data: bytes) -> pl.Series:
    return _read_frame(data).to_series()


def _read_array(data: bytes) -> npt.NDArray[Any]:
    array: npt.NDArray[Any] = np.load(io.BytesIO(data), allow_pickle=False)
    return array


def _read_scalar(data: bytes) -> Any:
    return _read_array(data)[()]


def _read_zone(key: str) -> ZoneInfo:
    return ZoneInfo(key)


def _write_frame(frame: pl.DataFrame) -> tuple[Callable[..., Any], tuple[bytes]]:
    return _read_frame, (_frame_bytes(frame),)


def _write_series(series: pl.Series) -> tuple[Callable[..., Any], tuple[bytes]]:
    return _read_series, (_frame_bytes(series.to_frame()),)


def _write_array(array: npt.NDArray[Any]) -> tuple[Callable[..., Any], tuple[bytes]]:
    if array.dtype.hasobject:
        raise TypeError(f"a snapshot is {PLAIN}; there is an array of Python objects in it")
    return _read_array, (_array_bytes(array),)


def _write_zone(zone: ZoneInfo) -> tuple[Callable[..., Any], tuple[str]]:
    return _read_zone, (zone.key,)


def _frame_bytes(frame: pl.DataFrame) -> bytes:
    if any(kind == pl.Object for kind in frame.dtypes):
        raise TypeError(f"a snapshot is {PLAIN}; there is a column of Python objects in it")
    out = io.BytesIO()
    frame.write_ipc_stream(out)
    return out.getvalue()


def _array_bytes(array: npt.NDArray[Any]) -> bytes:
    out = io.BytesIO()
    np.save(out, array, allow_pickle=False)
    return out.getvalue()


_WRITERS: dict[type, Callable[[Any], Any]] = {
    pl.DataFrame: _write_frame,
    pl.Series: _write_series,
    np.ndarray: _write_array,
    ZoneInfo: _write_zone,
}

_FUNCTIONS = (_read_frame, _read_series, _read_array, _read_scalar, _read_zone)

_FOUND = {(kind.__module__, kind.__qualname__): kind for kind in _TYPES} | {
    (function.__module__, function.__qualname__): function for function in _FUNCTIONS
}
"""What a value may name: by module and name, and by nothing else."""
