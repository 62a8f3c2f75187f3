"""Which field of a JSON record is a column's: the one of its name, or else one whose name differs only in the case of letters A to Z.

A column whose name is quoted in the table's definition takes only the field of its very name.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping

EXACT = "json.exact"
"""The option that lists the columns whose names count with their case."""

_SMALL = str.maketrans({chr(letter): chr(letter + 32) for letter in range(ord("A"), ord("Z") + 1)})


def fold(name: str) -> str:
    """The name in small letters; others than A to Z stay."""
    return name.translate(_SMALL)


def exact_names(options: Mapping[str, str], columns: Iterable[str]) -> frozenset[str]:
    """The columns whose fields have to be written just so."""
    said = options.get(EXACT, "")
    return frozenset(columns if said == "*" else filter(None, map(str.strip, said.split(","))))


def match_fields(found: Collection[str], columns: Collection[str], exact: Collection[str]) -> dict[str, str]:
    """The field of each column in one record, which may not be there.

    Raises:
        ValueError: two fields are a column's, and neither is written as it is.
    """
    chosen = {name: name for name in columns}
    others: dict[str, list[str]] = {}
    for field in found:
        if field not in chosen:
            others.setdefault(fold(field), []).append(field)
    for name in columns:
        alike = others.get(fold(name), []) if name not in found and name not in exact else []
        if len(alike) > 1:
            raise ValueError(
                f"its fields '{alike[0]}' and '{alike[1]}' differ only in case, and either may be column '{name}'"
            )
        chosen[name] = alike[0] if alike else name
    return chosen


def is_in_other_case(names: Iterable[str], blob: bytes) -> bool:
    """Whether one of the names stands in the records in another case, between quotes."""
    written = [json.dumps(name, ensure_ascii=False).encode() for name in names]
    small = blob.lower()
    return any(small.count(name.lower()) != blob.count(name) for name in written)
