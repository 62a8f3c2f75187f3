"""Looking into JSON text: GET_JSON_OBJECT and JSON_VALUE, with paths of names and indexes."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from ouzel.compiler.expressions import Expression
from ouzel.compiler.functions.lowering import map_rows, spark_call, with_errors
from ouzel.compiler.functions.printing import java_double
from ouzel.compiler.functions.registry import Function, Lowered, Signature
from ouzel.compiler.functions.search import literal_at, text_at
from ouzel.compiler.functions.signatures import overloads
from ouzel.compiler.types import VARCHAR, to_polars
from ouzel.errors import NotSupported

_STEP = re.compile(r"\.([A-Za-z_][A-Za-z_0-9]*)|\[(\d+)\]|\['([^'\]]+)'\]")


class _Number(str):
    """A number as it will be printed: an integer as the text has it, any other as Java prints a double."""


def _java_double(text: str) -> _Number:
    return _Number(java_double(float(text)))


def _refuse(text: str) -> None:
    raise ValueError(text)  # NaN and Infinity are not JSON


def path_steps(path: str) -> list[str | int]:
    """`$.a[0]['b c']` as its steps.

    Raises:
        NotSupported: wildcards, filters, or anything else.
    """
    steps: list[str | int] = []
    position = 1
    while path.startswith("$") and position < len(path):
        found = _STEP.match(path, position)
        if not found:
            break
        steps.append(int(found[2]) if found[2] is not None else found[1] or found[3])
        position = found.end()
    if not path.startswith("$") or position < len(path):
        raise NotSupported(
            f"the JSON path '{path}' is not made of names and indexes", instead="write $.name, $.name[0] or $['a name']"
        )
    return steps


def look_up(text: str, steps: Sequence[str | int]) -> str | None:
    """The value at the path, as text: a string bare, null as None, anything else as JSON."""
    try:
        value: Any = json.loads(text, parse_int=_Number, parse_float=_java_double, parse_constant=_refuse)
    except ValueError:
        return None
    for step in steps:
        value = _below(value, step)
    return None if value is None else value if isinstance(value, str) else _dump(value)


def _below(value: Any, step: str | int) -> Any:
    if isinstance(step, int):
        return value[step] if isinstance(value, list) and step < len(value) else None
    return value.get(step) if isinstance(value, dict) else None


def _dump(value: Any) -> str:
    if isinstance(value, dict):
        return (
            "{" + ",".join(f"{json.dumps(key, ensure_ascii=False)}:{_dump(item)}" for key, item in value.items()) + "}"
        )
    if isinstance(value, list):
        return "[" + ",".join(map(_dump, value)) + "]"
    return str(value) if isinstance(value, _Number) else json.dumps(value, ensure_ascii=False)


def _check(arguments: Sequence[Expression]) -> None:
    literal_at("get_json_object", 1)(arguments)
    path = text_at(arguments, 1)
    if path is not None:
        path_steps(path)


def _lower(arguments: Sequence[Lowered], signature: Signature) -> Lowered:
    path = arguments[1].literal
    assert isinstance(path, str)
    steps = path_steps(path)
    both = map_rows((arguments[0].value,), lambda text: look_up(text, steps), to_polars(VARCHAR))
    return with_errors(both.struct.field("value"), arguments)


FUNCTIONS: tuple[Function, ...] = (
    Function(
        "get_json_object", overloads(((VARCHAR, VARCHAR), VARCHAR)), _lower, spark_call("get_json_object", 1),
        "The value at a path in JSON text: a string bare, others as JSON; NULL if there is none.",
        "JSON_VALUE(text, path [RETURNING type]), GET_JSON_OBJECT(text, path)", aliases=("json_value",), check=_check,
        examples=((1, ("$.a", "$.b[0]", "$['c d']", "$", "$.a.b")),),
    ),
)  # fmt: skip
