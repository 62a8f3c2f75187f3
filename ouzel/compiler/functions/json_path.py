"""Looking into JSON text: GET_JSON_OBJECT, JSON_VALUE and JSON_EXISTS, with paths of names and indexes.

A text is read as Spark's GET_JSON_OBJECT reads it: the first value in it counts, whatever follows; texts may stand in single quotes and
hold line breaks; of a name that comes twice the first that has a value at the path counts; null is none but as an element of an array.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Sequence
from typing import Any

from ouzel.compiler.expressions import Expression
from ouzel.compiler.functions.lowering import constant_of, map_rows, spark_call, with_errors
from ouzel.compiler.functions.printing import java_double
from ouzel.compiler.functions.registry import Function, KernelLowering, Lowered, Signature
from ouzel.compiler.functions.search import literal_at, text_at
from ouzel.compiler.functions.signatures import overloads
from ouzel.compiler.types import BOOLEAN, VARCHAR, DataType, to_polars
from ouzel.errors import NotSupported

_STEP = re.compile(r"\.([A-Za-z_][A-Za-z_0-9]*)|\[(\d+)\]|\['([^'\]]+)'\]")


class _Number(str):
    """A number as it will be printed: an integer as the text has it, any other as Java prints a double."""


class _Object(list[tuple[str, Any]]):
    """The members of an object, in their order; a name may come twice."""


def _java_double(text: str) -> _Number:
    number = float(text)
    return _Number(f'"{java_double(number)}"' if math.isinf(number) else java_double(number))


def _refuse(text: str) -> None:
    raise ValueError(text)  # NaN and Infinity are not JSON


_READ = json.JSONDecoder(
    parse_int=_Number, parse_float=_java_double, parse_constant=_refuse, object_pairs_hook=_Object, strict=False
)
_STRICT = json.JSONDecoder(parse_constant=_refuse, object_pairs_hook=_Object)
_NULL, _NOTHING = _Number("null"), object()
_BLANKS = " \t\r\n"
_SINGLE_OR_DOUBLE = re.compile(r"""("(?:[^"\\]|\\.)*")|'((?:[^'\\]|\\.)*)'""", re.S)


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
    """The value at the path, as text: a string bare, anything else as JSON; None if there is none."""
    value = _first_value(_READ, text)
    if value is _NOTHING and "'" in text:
        value = _first_value(_READ, _SINGLE_OR_DOUBLE.sub(_in_double_quotes, text))
    found = None if value is _NOTHING else _find(value, steps)
    return found if found is None or (isinstance(found, str) and not isinstance(found, _Number)) else _dump(found)


def exists(text: str, steps: Sequence[str | int]) -> bool:
    """Whether there is anything at the path, null too; False of what is not JSON."""
    if look_up(text, steps) is not None:
        return True
    value = _first_value(_STRICT, text)
    return value is not _NOTHING and not _has_twins(value) and _is_there(value, steps)


def _first_value(decoder: json.JSONDecoder, text: str) -> Any:
    """The first value in the text, whatever follows it at a distance."""
    text = text.lstrip(_BLANKS)
    try:
        value, end = decoder.raw_decode(text)
    except (ValueError, RecursionError):
        return _NOTHING
    after = text[end : end + 1]
    if isinstance(value, list | dict) or text.startswith('"') or after == "" or after in _BLANKS:
        return value
    is_word = value is None or isinstance(value, bool)
    return value if is_word and not (after.isalnum() or after == "_") else _NOTHING


def _in_double_quotes(found: re.Match[str]) -> str:
    return found[1] or '"' + found[2].replace("\\'", "'").replace('"', '\\"') + '"'


def _find(value: Any, steps: Sequence[str | int]) -> Any:
    """The first value at the path; None if there is none."""
    if not steps:
        return _NULL if value is None else value
    step, rest = steps[0], steps[1:]
    if isinstance(step, int):
        inside = isinstance(value, list) and not isinstance(value, _Object) and step < len(value)
        return _find(value[step], rest) if inside else None
    members = value if isinstance(value, _Object) else ()
    below = (_find(item, rest) for name, item in members if name == step and item is not None)
    return next((found for found in below if found is not None), None)


def _is_there(value: Any, steps: Sequence[str | int]) -> bool:
    for step in steps:
        members: dict[Any, Any] = {}
        if isinstance(value, _Object):
            members = dict(value)
        elif isinstance(value, list):
            members = dict(enumerate(value))
        if step not in members:
            return False
        value = members[step]
    return True


def _has_twins(value: Any) -> bool:
    """Whether a name comes twice in an object, wherever."""
    if isinstance(value, _Object):
        return len(dict(value)) < len(value) or any(_has_twins(item) for _, item in value)
    return isinstance(value, list) and any(map(_has_twins, value))


def _dump(value: Any) -> str:
    if isinstance(value, _Object):
        members = (f"{json.dumps(key, ensure_ascii=False)}:{_dump(item)}" for key, item in value)
        return "{" + ",".join(members) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(_dump, value)) + "]"
    return str(value) if isinstance(value, _Number) else json.dumps(value, ensure_ascii=False)


def _check(arguments: Sequence[Expression]) -> None:
    literal_at("get_json_object", 1)(arguments)
    path = text_at(arguments, 1)
    if path is not None:
        path_steps(path)


def _lower(find: Callable[[str, Sequence[str | int]], object], result: DataType) -> KernelLowering:
    def lower(arguments: Sequence[Lowered], signature: Signature) -> Lowered:
        path = arguments[1].literal
        assert isinstance(path, str)
        steps = path_steps(path)
        both = map_rows((arguments[0].value,), lambda text: find(text, steps), to_polars(result))
        return with_errors(both.struct.field("value"), arguments)

    return lower


def _exists_in_spark(arguments: Sequence[str], signature: Signature) -> str:
    """Spark has no such function: a variant tells null from nothing, and GET_JSON_OBJECT reads what is no variant."""
    text, path = arguments[0], constant_of(arguments[1])
    found = f"F.get_json_object({text}, {path}).isNotNull()"
    null = f"F.try_variant_get(F.try_parse_json({text}), {path}, 'variant').isNotNull()"
    return f"F.when({text}.isNotNull(), {found} | {null})"


FUNCTIONS: tuple[Function, ...] = (
    Function(
        "get_json_object", overloads(((VARCHAR, VARCHAR), VARCHAR)), _lower(look_up, VARCHAR), spark_call("get_json_object", 1),
        "The value at a path in JSON text: a string bare, others as JSON; NULL if there is none.",
        "JSON_VALUE(text, path [RETURNING type]), GET_JSON_OBJECT(text, path)", aliases=("json_value",), check=_check,
        examples=((1, ("$.a", "$.b[0]", "$['c d']", "$", "$.a.b", "$.a[1]")),),
    ),
    Function(
        "json_exists", overloads(((VARCHAR, VARCHAR), BOOLEAN)), _lower(exists, BOOLEAN), _exists_in_spark,
        "Whether there is anything at a path in JSON text, null too; FALSE of what is not JSON.",
        "JSON_EXISTS(text, path)", check=_check,
        examples=((1, ("$.a", "$.b[0]", "$['c d']", "$", "$.a.b", "$.a[1]", "$.b[1].c")),),
    ),
)  # fmt: skip
