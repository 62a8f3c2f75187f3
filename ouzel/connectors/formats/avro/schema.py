"""Avro's schemas: made ready for a reader that knows no names, no maps and not every logical type, without changing what the bytes mean.

Encodings are those of the Avro specification 1.12 ("Binary Encoding").
"""

from __future__ import annotations

import json
from typing import Any

from ouzel.errors import ConnectorError

PRIMITIVES = ("null", "boolean", "int", "long", "float", "double", "bytes", "string")
_LOGICAL = (
    "date",
    "timestamp-millis",
    "timestamp-micros",
    "local-timestamp-millis",
    "local-timestamp-micros",
    "decimal",
)
_FIXED_SIZES = {"float": 4, "double": 8}
_VARINT_BYTES, _DECIMAL_BYTES = 10, 16
_MILLIS_LARGEST = (2**63 - 1) // 1000


def parse_schema(text: str, where: str) -> dict[str, Any]:
    """A record's schema: names stand for what they name, a map is the array of its entries, which has the same bytes.

    Raises:
        ConnectorError: it is no schema of a record, or has a type that no column can take.
    """
    try:
        found = json.loads(text)
    except ValueError as error:
        raise ConnectorError(f"{where} is not JSON ({error})") from None
    if not isinstance(found, dict) or found.get("type") != "record":
        raise ConnectorError(f"{where} is not the schema of a record; a row needs one, with its 'fields'")
    made: dict[str, Any] = _Expansion(where).expand(found, "")
    for field in made["fields"]:
        if odd := _unreadable(field["type"], False):
            raise _refusal(where, f"{odd} in its field '{field['name']}'")
    return made


def _refusal(where: str, what: str) -> ConnectorError:
    return ConnectorError(f"{where} has {what}, which no column can take")


def _unreadable(kind: Any, inside: bool) -> str:
    """What Polars' reader cannot take of a type, if there is such a thing; it is inside another type or not."""
    match kind:
        case "null":
            return "nothing but null"
        case {"type": "enum"} if inside:
            return "an enum inside another type"
        case ["null", {"type": "enum"}] | [{"type": "enum"}, "null"] if inside or kind[0] != "null":
            return "an enum that may be null inside another type, or with null behind it"
        case {"type": "fixed", "size": 0}:
            return "a fixed of no bytes"
        case {"type": "fixed", "logicalType": "decimal", "size": size} if size > _DECIMAL_BYTES:
            return f"a decimal of {size} bytes"
        case {"type": "record", "fields": fields}:
            parts = [field["type"] for field in fields]
            return next(
                filter(None, (_unreadable(part, True) for part in parts)), "" if parts else "a record of no fields"
            )
        case {"type": "array", "items": items}:
            return _unreadable(items, True)
        case {"type": inner}:
            return _unreadable(inner, inside)
        case [first, second]:
            return _unreadable(second if first == "null" else first, inside)
    return ""


class _Expansion:
    """Puts definitions in the place of names."""

    def __init__(self, where: str) -> None:
        self._where = where
        self._known: dict[str, Any] = {}

    def expand(self, kind: Any, space: str) -> Any:
        """The type without names and maps; `space` is the namespace that it stands in."""
        match kind:
            case str():
                return kind if kind in PRIMITIVES else self._find(kind, space)
            case [first, second] if "null" in (first, second):
                return [self.expand(first, space), self.expand(second, space)]
            case list():
                raise self._refuse("a union of other than null and one more type")
            case {"type": "map", "values": values}:
                fields = [{"name": "key", "type": "string"}, {"name": "value", "type": self.expand(values, space)}]
                return {"type": "array", "items": {"type": "record", "name": "entry", "fields": fields}}
            case {"type": "array", "items": items}:
                return {"type": "array", "items": self.expand(items, space)}
            case {"type": "record" | "enum" | "fixed", "name": name}:
                return self._define(kind, name, space)
            case {"type": inner, "logicalType": logical} if logical in _LOGICAL and inner in PRIMITIVES:
                return {name: kind[name] for name in ("type", "logicalType", "precision", "scale") if name in kind}
            case {"type": inner}:
                return self.expand(inner, space)
        raise self._refuse(f"a type {json.dumps(kind)[:80]}")

    def _define(self, kind: dict[str, Any], name: str, space: str) -> dict[str, Any]:
        space = name.rpartition(".")[0] or kind.get("namespace", space)
        full = name if "." in name or not space else f"{space}.{name}"
        self._known[full] = None
        made = {part: value for part, value in kind.items() if part in ("type", "name", "symbols", "size")}
        if kind["type"] == "record":
            made["fields"] = [
                {"name": field["name"], "type": self.expand(field["type"], space)} for field in kind.get("fields", ())
            ]
        if kind["type"] == "fixed" and kind.get("logicalType") == "decimal":
            made |= {part: kind[part] for part in ("logicalType", "precision", "scale") if part in kind}
        self._known[full] = made
        return made

    def _find(self, name: str, space: str) -> Any:
        full = name if "." in name or not space else f"{space}.{name}"
        for known in (full, name):
            if known in self._known:
                if self._known[known] is None:
                    raise self._refuse(f"the type '{name}' inside itself")
                return self._known[known]
        raise self._refuse(f"the type '{name}', which it does not define")

    def _refuse(self, what: str) -> ConnectorError:
        return _refusal(self._where, what)


def symbols_of_nullable(kind: Any) -> list[str]:
    """The symbols of an enum that may be null; none for any other type."""
    match kind:
        case ["null", {"type": "enum", "symbols": symbols}]:
            return list(symbols)
    return []


def check_body(schema: Any, data: bytes) -> None:
    """See that the bytes are one value of the schema, slowly: who is to blame when many records cannot be read.

    Raises:
        ValueError: they are not; the text is the reason.
    """
    end = _pass(schema, data, 0, "")
    if end != len(data):
        raise ValueError(f"{len(data) - end} bytes follow its last field; it was written with another schema")


def _pass(kind: Any, data: bytes, at: int, field: str) -> int:
    """Where the value ends that begins here."""
    match kind:
        case {"type": "record", "fields": fields}:
            for part in fields:
                at = _pass(part["type"], data, at, part["name"])
            return at
        case {"type": "array", "items": items}:
            return _pass_blocks(items, data, at, field)
        case {"type": "fixed", "size": size}:
            end = _advance(data, at, size, field)
            _check_logical(kind, data, at, end, field)
            return end
        case {"type": "enum", "symbols": symbols}:
            return _pass_choice(len(symbols), data, at, field)[1]
        case {"type": inner}:
            end = _pass(inner, data, at, field)
            _check_logical(kind, data, at, end, field)
            return end
        case [_, _]:
            chosen, at = _pass_choice(2, data, at, field)
            return _pass(kind[chosen], data, at, field)
    return _pass_primitive(kind, data, at, field)


def _check_logical(kind: dict[str, Any], data: bytes, at: int, end: int, field: str) -> None:
    """See that what was passed is a value of its logical type, if it has one."""
    match kind:
        case {"logicalType": "decimal", "precision": precision}:
            start = at if kind["type"] == "fixed" else _varint(data, at, field)[1]
            is_long = end - start > _DECIMAL_BYTES
            if is_long or abs(int.from_bytes(data[start:end], "big", signed=True)) >= 10**precision:
                raise ValueError(f"its field '{field}' has more than {precision} digits")
        case {"logicalType": "timestamp-millis" | "local-timestamp-millis"}:
            if abs(_varint(data, at, field)[0]) > _MILLIS_LARGEST:
                raise ValueError(f"its field '{field}' is a time that no TIMESTAMP can hold")


def _pass_primitive(kind: str, data: bytes, at: int, field: str) -> int:
    match kind:
        case "null":
            return at
        case "boolean":
            return _pass_boolean(data, at, field)
        case "int" | "long":
            return _varint(data, at, field)[1]
        case "float" | "double":
            return _advance(data, at, _FIXED_SIZES[kind], field)
    size, start = _varint(data, at, field)
    end = _advance(data, start, size, field)
    if kind == "string":
        try:
            data[start:end].decode()
        except UnicodeDecodeError:
            raise ValueError(f"its field '{field}' is not text in UTF-8") from None
    return end


def _pass_boolean(data: bytes, at: int, field: str) -> int:
    end = _advance(data, at, 1, field)
    if data[at] > 1:
        raise ValueError(f"its field '{field}' is no boolean")
    return end


def _pass_choice(choices: int, data: bytes, at: int, field: str) -> tuple[int, int]:
    chosen, at = _varint(data, at, field)
    if not 0 <= chosen < choices:
        raise ValueError(f"its field '{field}' is choice {chosen} of {choices}; it was written with another schema")
    return chosen, at


def _pass_blocks(items: Any, data: bytes, at: int, field: str) -> int:
    while True:
        count, at = _varint(data, at, field)
        if count == 0:
            return at
        if count < 0:
            _, at = _varint(data, at, field)
        if abs(count) > len(data):
            raise ValueError(f"its field '{field}' has {abs(count)} elements in {len(data)} bytes")
        for _ in range(abs(count)):
            at = _pass(items, data, at, field)


def _advance(data: bytes, at: int, size: int, field: str) -> int:
    if size < 0 or at + size > len(data):
        raise ValueError(f"it ends inside its field '{field}'; it was written with another schema, or cut off")
    return at + size


def _varint(data: bytes, at: int, field: str) -> tuple[int, int]:
    value = 0
    for place in range(_VARINT_BYTES):
        _advance(data, at, 1, field)
        value |= (data[at] & 0x7F) << 7 * place
        at += 1
        if data[at - 1] < 0x80:
            return (value >> 1) ^ -(value & 1), at
    raise ValueError(f"its field '{field}' has a number of more than {_VARINT_BYTES} bytes")


def write_varint(number: int) -> bytes:
    """A number as Avro writes it."""
    number = number << 1 if number >= 0 else (-number << 1) - 1
    written = bytearray()
    while number > 0x7F:
        written.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*written, number])
