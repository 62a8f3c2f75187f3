"""What to write where a frame of Polars or pandas is given for records."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import Any, Protocol, runtime_checkable

from ouzel.compiler.records import python_names, spell

FIELDS_NAMED = 6
"""Of a frame of so many columns the whole class is written."""

_KINDS: Mapping[str, type] = {"i": int, "u": int, "f": float, "b": bool}
"""Python's types of the kinds of numbers that pandas has."""


@runtime_checkable
class Columnar(Protocol):
    """A frame of Polars or pandas."""

    columns: Any
    shape: Any
    dtypes: Any


@runtime_checkable
class InPolars(Protocol):
    """A frame of Polars."""

    columns: Any
    schema: Any

    def rows(self) -> Any:
        """Its rows as tuples."""


def advise_of_frame(frame: Columnar) -> str:
    """The records of a frame as a source takes them, with its columns for their fields."""
    rows, types = "frame.itertuples(index=False, name=None)", map(_type_in_pandas, frame.dtypes)
    if isinstance(frame, InPolars):
        rows, types = "frame.rows()", frame.schema.to_python().values()
    fields = [
        f"({name!r}, {spell(kind)})" for name, kind in zip(python_names(map(str, frame.columns)), types, strict=True)
    ]
    shown = ", ".join([*islice(fields, FIELDS_NAMED), *(["…"] if len(fields) > FIELDS_NAMED else [])])
    made = f"Row = NamedTuple('Row', [{shown}])"
    return f"write Source.of([Row(*row) for row in {rows}]), with {made} above it; or read its file: Source.file"


def _type_in_pandas(kind: Any) -> type:
    """Python's type of a column's values; of what shows too little a text."""
    return _KINDS.get(kind.kind, str)
