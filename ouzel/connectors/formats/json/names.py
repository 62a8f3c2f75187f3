"""Which field of a JSON record is a column's: the one of its name, or else one whose name differs only in the case of letters A to Z.

A column whose name is quoted in the table's definition takes only the field of its very name. So it is with the fields inside a ROW, which
are told apart as `column.field`, at whatever depth they stand.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

import polars as pl

from ouzel.lists import split_list

EXACT = "json.exact"
"""The option that lists the columns whose names count with their case."""

_SMALL = str.maketrans({chr(letter): chr(letter + 32) for letter in range(ord("A"), ord("Z") + 1)})


class AmbiguousField(ValueError):
    """Two fields may be what is asked for."""


def fold(name: str) -> str:
    """The name in small letters; others than A to Z stay."""
    return name.translate(_SMALL)


def exact_names(options: Mapping[str, str], columns: Mapping[str, pl.DataType]) -> frozenset[str]:
    """The columns whose fields have to be written just so, and `column.field` for fields inside them."""
    said = options.get(EXACT, "")
    if said != "*":
        return frozenset(split_list(said))
    inside = (f"{name}.{field}" for name, kind in columns.items() for field in _fields(kind))
    return frozenset(columns) | frozenset(inside)


def exact_inside(column: str, exact: Iterable[str]) -> frozenset[str]:
    """The fields inside that column that have to be written just so."""
    return frozenset(name.removeprefix(f"{column}.") for name in exact if name.startswith(f"{column}."))


def _fields(kind: pl.DataType) -> Iterator[str]:
    """The names of all fields inside a type."""
    if isinstance(kind, pl.List):
        yield from _fields(kind.inner)  # type: ignore[arg-type]
    elif isinstance(kind, pl.Struct):
        for field in kind.fields:
            yield field.name
            yield from _fields(field.dtype)  # type: ignore[arg-type]


def match_fields(found: Collection[str], columns: Collection[str], exact: Collection[str]) -> dict[str, str]:
    """The field of each column in one record, which may not be there.

    Raises:
        AmbiguousField: two fields are a column's, and neither is written as it is.
    """
    chosen = {name: name for name in columns}
    others: dict[str, list[str]] = {}
    for field in found:
        if field not in chosen:
            others.setdefault(fold(field), []).append(field)
    for name in columns:
        alike = others.get(fold(name), []) if name not in found and name not in exact else []
        if len(alike) > 1:
            raise AmbiguousField(
                f"its fields '{alike[0]}' and '{alike[1]}' differ only in case, and either may be column '{name}'"
            )
        chosen[name] = alike[0] if alike else name
    return chosen
