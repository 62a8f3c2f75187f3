"""What to write instead of a function of the user's that has raised on a record: of operands, of fields that it has not, of None, and of a
line that is a header."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Sequence
from difflib import get_close_matches

from ouzel.compiler.records import Form, record_of
from ouzel.compiler.user_code import FAILURES, advise_of_operands
from ouzel.errors import OuzelError

MOST_NONE = 3
"""So many parts of a record that are None are named."""

_NOT_READ = re.compile(r"(?:invalid literal for int\(\)[^:]*|could not convert string to float): '(.*)'", re.DOTALL)
"""How Python says that a text is no number."""


def advise_of_error(error: BaseException, function: Callable[..., object], called: str, record: object) -> str:
    """What to write instead; empty where nothing is known.

    Args:
        error: what the function raised.
        function: the user's.
        called: the step with its function, as messages have it.
        record: what the function was given.
    """
    try:
        str(error)
    except FAILURES:  # a text of the user's that raises itself says nothing
        return ""
    return (
        advise_of_operands(error)
        or _advise_of_types(error, record)
        or _advise_of_none(error, function, called, record)
        or advise_of_attribute(error)
        or _advise_of_header(error, record)
        or _advise_of_others(error, record)
    )


def advise_of_attribute(error: BaseException) -> str:
    """The name that is nearest to one that a value has not: of a record's own fields, of which one is meant, before its methods."""
    if not isinstance(error, AttributeError) or not error.name or error.obj is None:
        return ""
    fields = list_fields(error.obj)
    if type(error.obj) is tuple:
        return _advise_of_tuple(error.name, error.obj)
    if fields:
        near = get_close_matches(error.name, fields, 1)
        return f"did you mean {near[0]}?" if near else f"it has {', '.join(fields)}"
    near = get_close_matches(error.name, [name for name in dir(error.obj) if not name.startswith("_")], 1)
    return f"did you mean {near[0]}?" if near else ""


def _advise_of_tuple(name: str, given: tuple[object, ...]) -> str:
    """Where the parts of a tuple are, which have no names."""
    place = next((place for place, part in enumerate(given) if name in list_fields(part)), None)
    if place is not None:
        return f"it is a tuple, of which [{place}] has {name}"
    if len(given) == 2:
        return "a pair is a tuple: [0] is its key, and [1] its value"
    return (
        f"the parts of a tuple have no names: write [0] to [{len(given) - 1}], or give a named tuple in the step before"
    )


def list_fields(value: object) -> Sequence[str]:
    """The fields of a record of a class; none of anything else."""
    try:
        record = record_of(type(value))
    except (OuzelError, NameError, TypeError):
        return ()
    return record.schema.names if record.form is Form.CLASS else ()


def _advise_of_types(error: BaseException, record: object) -> str:
    """What to write instead of a place or a call that a value of this type has not."""
    told = str(error)
    if isinstance(error, IndexError) and isinstance(record, tuple) and told == "tuple index out of range":
        inner = next((place for place, part in enumerate(record) if type(part) is tuple), None)
        deeper = (
            ""
            if inner is None
            else f", and [{inner}] is a tuple again, [{inner}][0] to [{inner}][{len(record[inner]) - 1}]"
        )
        return f"the record has [0] to [{len(record) - 1}]{deeper}"
    if not isinstance(error, TypeError):
        return ""
    if "tuple indices" in told:
        return "write record.field of a named tuple, and record[0] of a tuple"
    if re.fullmatch(r"'\w+' object is not callable", told):
        return "leave the () out: a field is a value"
    if added := re.fullmatch(r'can only concatenate str \(not "(\w+)"\) to str', told):
        return f"write str(…) of the {added[1]}, or f'{{a}}{{b}}' of both"
    return ""


def _advise_of_none(error: BaseException, function: Callable[..., object], called: str, record: object) -> str:
    """What to write where a function fails because what it reads is None; empty if that is not why."""
    if (
        not isinstance(error, TypeError | AttributeError)
        or "NoneType" not in str(error)
        or not inspect.isfunction(function)
    ):
        return ""
    code = function.__code__
    variable = code.co_varnames[0] if code.co_argcount == 1 else "record"
    parts = list(_parts_of_none(record, variable, code.co_names))
    if not 0 < len(parts) <= MOST_NONE:
        return ""
    condition = " and ".join(f"{part} is not None" for part in parts)
    verb, _, said = called.partition(" ")
    body = said.removeprefix(f"lambda {variable}: ")
    half = next((end for end in ("_values", "_keys") if verb.endswith(end)), "")
    instead = f"write filter{half}(lambda {variable}: {condition}) before it, or give something else where it is None"
    is_whole = (
        body != said
        and not body.endswith("…")
        and {line for *_, line in code.co_lines()} <= {code.co_firstlineno, None}
    )
    if verb.startswith("filter") and is_whole:
        body = f"({body})" if re.search(r"\b(?:or|if|lambda)\b", body) else body
        instead = f"write {verb}(lambda {variable}: {condition} and {body})"
    be = "are" if len(parts) > 1 else "is"
    return f"{' and '.join(parts)} {be} None in this record: empty, NULL, or without a match; {instead}"


def _parts_of_none(value: object, path: str, read: Sequence[str]) -> Iterator[str]:
    """Where a record is None, as Python writes it: of the fields of a class those that the function reads."""
    if value is None:
        yield path
    elif fields := list_fields(value):
        for name in fields:
            if name in read:
                yield from _parts_of_none(getattr(value, name, ""), f"{path}.{name}", read)
    elif isinstance(value, tuple):
        for place, part in enumerate(value):
            yield from _parts_of_none(part, f"{path}[{place}]", read)


def _advise_of_others(error: BaseException, record: object) -> str:
    """What to write instead of a name that is not there, a number that is too large for a time, and a record that is changed."""
    if isinstance(error, NameError) and error.name:
        near = get_close_matches(error.name, list_fields(record), 1)
        return f"did you mean record.{near[0]}?" if near else f"define {error.name} above the step, or import it"
    if isinstance(error, ValueError | OverflowError) and re.search(
        r"year -?\d+ is out of range|timestamp out of range", str(error)
    ):
        return "the number is of milliseconds, or finer, where seconds are wanted: divide it by 1000"
    if isinstance(error, AttributeError) and re.search(r"can't set attribute|cannot assign to field", str(error)):
        made = "record._replace(" if isinstance(record, tuple) else "dataclasses.replace(record, "
        return f"a record of this class is never changed: return {made}name=value)"
    return ""


def _advise_of_header(error: BaseException, record: object) -> str:
    """What to write where a line of names was read as one of numbers; empty if it does not look so."""
    told = _NOT_READ.fullmatch(str(error)) if isinstance(error, ValueError) else None
    if told is None:
        return ""
    delimiter = next((one for one in ",;\t|" if isinstance(record, str) and one in record), ",")
    parts = record.split(delimiter) if isinstance(record, str) else record
    if not isinstance(parts, list | tuple) or len(parts) < 2 or not all(isinstance(one, str) for one in parts):
        return ""
    names = [one.strip().strip('"') for one in parts]
    if told[1].strip().strip('"') not in names or not all(
        re.fullmatch(r"[A-Za-z_]\w*(?:[ -]\w+)*", one) for one in names
    ):
        return ""
    option = "" if delimiter == "," else f", csv_delimiter={delimiter!r}"
    fields = ", ".join(re.sub(r"\W", "_", name) for name in names)
    return (
        f"it looks like the header of a CSV file, which names its fields; write Source.file(path, Row, format='csv'{option}), "
        f"where Row is a dataclass with the fields {fields}"
    )
