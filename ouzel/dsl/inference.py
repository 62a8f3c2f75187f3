"""Which type a function gives: what it says, what the user says, or what it gives for the first records of a source that can be read."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from types import NoneType, UnionType
from typing import Annotated, Any, TypeVar, Union, get_args, get_type_hints

from ouzel.compiler.plan import Declared, StepKind, StepPart
from ouzel.compiler.raised import advise_of_error
from ouzel.compiler.records import (
    MIXED,
    NO_COLUMN,
    Hint,
    hint_of_values,
    is_whole,
    origin_of,
    spell,
    type_of,
    why_no_hint,
)
from ouzel.compiler.user_code import describe_raised, line_of
from ouzel.dsl.expressions import Expr
from ouzel.dsl.functions import function_name
from ouzel.dsl.variables import copy_for_trial
from ouzel.errors import OuzelError, QueryError
from ouzel.exits import in_user_code

SAMPLE_ROWS = 100
"""So many records a function is tried on."""

NOT_A_FAILURE = (KeyboardInterrupt, GeneratorExit)
"""What is not the function's where it is tried: Ctrl-C, and that enough has been seen."""

KNOWN: Mapping[Any, Hint] = {
    len: int, str.split: list[str], str.rsplit: list[str], str.splitlines: list[str], str.strip: str, str.lower: str, str.upper: str,
    str.title: str, str.capitalize: str, str.casefold: str, str.encode: bytes, bytes.decode: str, repr: str, hash: int, ord: int, chr: str,
}  # fmt: skip
"""What functions give that have no annotations."""


def result_hint(
    function: Callable[..., Any],
    kind: StepKind,
    returns: Hint | None,
    samples: Callable[[], Iterable[Any] | None],
    called: str,
    find_failed: Callable[[bool], QueryError | None],
) -> Hint:
    """The type of the records that come of a function.

    Args:
        function: the user's.
        kind: what becomes of what it gives.
        returns: what the user says of the records; None if nothing.
        samples: gives the first records that the function will see; None if they cannot be read now.
        called: the step, for messages.
        find_failed: gives the error of a source that cannot be read or lacks the fields that it should have, or of a step before that
            fails on each of the first records, which a type would not mend; None if none has failed. It is told whether records come.

    Raises:
        QueryError: it cannot be known; says what to write.
    """
    if returns is not None:
        type_of(returns)
        return returns
    said = _read_hint(function, kind)
    if said is not None and _holds(said):
        return said
    given = samples()
    found = None if given is None else list(given)
    raised: list[BaseException] = []
    with in_user_code():
        values = list(islice(_try(function, kind, found or (), raised), SAMPLE_ROWS))
    if values and (unfinished := _of_unfinished(called, kind, values[0])):
        raise unfinished
    seen = hint_of_values(values)
    if is_whole(seen):
        return seen
    if values and not raised and (wrong := find_failed(True)):
        raise QueryError(f"{called} {wrong.problem}", instead=wrong.instead)
    if raised and not values and not isinstance(raised[0], _NoRecords):
        raise _always_raises(function, called, kind, raised[0], (found or [None])[0])
    if wrong := _of_wrong_values(called, kind, values, raised):
        raise wrong
    if not values and (wrong := find_failed(False)):
        raise QueryError(f"{called} {wrong.problem}", instead=wrong.instead)
    why = _why_unknown(values, raised) if found is not None else "its source cannot be read before it runs"
    instead = f"write {kind.value}(…, returns=tuple[str, int]) with the type of its records, or annotate the function"
    if why.startswith(NO_COLUMN) and ": " in why:  # the remedy is said
        instead = ""
    if why.startswith(NO_COLUMN) and instead:
        instead = "give what columns hold: docs/dsl.md lists it; str(…) makes a text of anything"
    if why.startswith(MIXED):
        instead = "give one type for every record, as by str(…), float(…) or None"
    raise QueryError(f"it is not known which type {called} gives: it has no annotation, and {why}", instead=instead)


def check_condition(function: Callable[..., Any], samples: Callable[[], Iterable[Any] | None], called: str) -> None:
    """See that a condition gives the first record more than what is true by itself: a function, or a generator.

    Args:
        function: the user's.
        samples: gives the first records that the function will see; None if they cannot be read now.
        called: the step, for messages.

    Raises:
        QueryError: it does not; says what to write.
    """
    if _annotation(function) is not None:
        return
    with in_user_code():
        found = list(_try(function, StepKind.FILTER, islice(samples() or (), SAMPLE_ROWS), []))
    if found and (unfinished := _of_unfinished(called, StepKind.FILTER, found[0])):
        raise unfinished
    constants = function.__code__.co_consts if inspect.isfunction(function) else ()
    told = next((one for one in found if isinstance(one, str) and one in constants), None)
    if told:
        raise QueryError(
            f"{called} gives the text {told!r}, which is true", instead="compare with each: record in ('a', 'b')"
        )


def declaration_of(
    function: Callable[..., Any], kind: StepKind, part: StepPart, returns: Hint | None, place: str
) -> Declared | None:
    """What was said of the records that come of a function, by the user or its annotation; None if nothing, or if they may be None."""
    if kind not in (StepKind.MAP, StepKind.FLAT_MAP) or isinstance(function, type):
        return None
    said = returns if returns is not None else _annotation(function)
    each = _element(said) if returns is None and kind is StepKind.FLAT_MAP and said is not None else said
    if each is None or not _holds(each) or may_be_none(each):
        return None
    wanted, written = f"{spell(each)} | None", "returns="
    if returns is None:
        place, written = line_of(function) or place, "-> "
        wanted = f"Iterable[{wanted}]" if kind is StepKind.FLAT_MAP else wanted
    other = ", or use option_map" if kind is StepKind.MAP and part is StepPart.RECORD else ""
    return Declared(spell(each), place, f"return a value,{'' if other else ' or'} write {written}{wanted}{other}")


def may_be_none(hint: Hint) -> bool:
    """Whether None is a value of this type."""
    parts = get_args(hint)
    if origin_of(hint) is Annotated:
        return may_be_none(parts[0])
    return hint is None or hint is NoneType or (origin_of(hint) in (Union, UnionType) and NoneType in parts)


def _why_unknown(values: Sequence[Any], raised: Sequence[BaseException]) -> str:
    if raised:
        return f"on the first records it raises {describe_raised(raised[0])}"
    return why_no_hint(values) or "the first records do not show it"


def _of_wrong_values(
    called: str, kind: StepKind, values: Sequence[Any], raised: Sequence[BaseException]
) -> QueryError | None:
    """The error for a function that gives what no type of records would mend; None if one may."""
    if raised and isinstance(raised[0], _NoRecords):
        return QueryError(
            f"{called} gives {raised[0]}, and flat_map gives the records of a list, one by one",
            instead=raised[0].instead,
        )
    if raised:
        return None
    if values and all(value is None for value in values):
        return QueryError(
            f"{called} gives None for the first records",
            instead=f"return what is to become of a record, or write {kind.value}(…, returns=str | None) if others give more",
        )
    why = why_no_hint(values)
    if why.startswith(MIXED) and kind is StepKind.FLAT_MAP:
        return QueryError(
            f"{called} gives {values[0]!r:.60} and others as records of one stream, and {why}",
            instead="write map(…) for one record of all, or give records of one type",
        )
    if why.startswith(MIXED) and isinstance(values[0], list | dict):
        return QueryError(
            f"{called} gives {values[0]!r:.60}, and {why}",
            instead="return a tuple, whose parts have types of their own"
            if isinstance(values[0], list)
            else "make a dataclass or a named tuple of it: Record(**fields); or, before a sum, a pair: (key, value)",
        )
    return None


def _of_unfinished(called: str, kind: StepKind, value: object) -> QueryError | None:
    """The error for a function that gives what has yet to be called or looped over; None if it gives something else."""
    if inspect.isroutine(value):
        name = function_name(value)
        advice = f"call it: write {name}()" if name.isidentifier() else "call it"
        return QueryError(f"{called} gives the function {name} itself", instead=advice)
    if isinstance(value, Expr):
        return QueryError(
            f"{called} gives the expression {value}, which is computed of columns and not of a record",
            instead=f"write select(name={value}), or a function of the record: lambda record: record.field",
        )
    if isinstance(value, Iterator) and kind is StepKind.FILTER:
        return QueryError(
            f"{called} gives {_with_article(type(value).__name__)}, which is true whatever it holds",
            instead="write any(…) or all(…) of it",
        )
    if isinstance(value, Iterator) and kind is StepKind.MAP:
        verb = called.split()[0]
        return QueryError(
            f"{called} gives {_with_article(type(value).__name__)}, which is looped over for its values",
            instead=f"write flat_{verb}(…) for each of them as a record, or return a list",
        )
    return None


def _with_article(name: str) -> str:
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"


def _always_raises(
    function: Callable[..., Any], called: str, kind: StepKind, raised: BaseException, record: object
) -> QueryError:
    """The error for a function that fails on each of the first records: they would fail in every run."""
    return QueryError(
        f"{called} raises {describe_raised(raised)} on the first records",
        instead=advise_of_raised(function, called, kind, raised, record),
    )


def advise_of_raised(
    function: Callable[..., Any], called: str, kind: StepKind, raised: BaseException, record: object
) -> str:
    """What to write instead of a function that fails on each of the first records, of which this is the first."""
    if isinstance(raised, TypeError) and "not subscriptable" in str(raised) and "NoneType" not in str(raised):
        verb = called.split()[0]
        half = "value" if verb.endswith("_values") else "key" if verb.endswith("_keys") else ""
        if half:
            return f"write lambda {half}: …; it is given the {half} of each pair, not the pair"
        return "write record.field: the fields of a dataclass are its attributes"
    if isinstance(raised, AttributeError) and isinstance(raised.obj, list) and hasattr(str, raised.name or ""):
        return "the record is a list; write flat_map instead of map before it, for each of its parts as a record"
    otherwise = f"mend it; or, if it can be called in a run only, write {kind.value}(…, returns=tuple[str, int])"
    return advise_of_error(raised, function, called, record) or ("mend it" if kind is StepKind.FILTER else otherwise)


def _read_hint(function: Callable[..., Any], kind: StepKind) -> Hint | None:
    """What the function itself says of the records that come of it."""
    if isinstance(function, type):
        return function if kind is not StepKind.FLAT_MAP else None
    hashable = getattr(function, "__hash__", None) is not None
    hint = KNOWN.get(function) if hashable else None
    if hint is None:
        hint = _annotation(function)
    if hint is None:
        return None
    return _element(hint) if kind is StepKind.FLAT_MAP else _without_none(hint)


def _annotation(function: Callable[..., Any]) -> Hint | None:
    called = function if inspect.isroutine(function) else getattr(function, "func", None) or type(function).__call__
    try:
        return get_type_hints(called, include_extras=True).get("return")
    except (NameError, TypeError, AttributeError):
        return None


def _element(hint: Hint) -> Hint | None:
    """What an iterable of this type gives."""
    hint = _without_none(hint)
    if hint is str:  # its parts would be its characters, which nobody means
        return None
    origin, parts = origin_of(hint), get_args(hint)
    if origin is None or not parts or not issubclass(origin, Iterable):
        return None
    if origin is tuple and Ellipsis not in parts:
        return parts[0] if all(part == parts[0] for part in parts) else None
    return parts[0]


def _without_none(hint: Hint) -> Hint:
    if origin_of(hint) in (Union, UnionType):
        left = [part for part in get_args(hint) if part is not NoneType]
        return left[0] if len(left) == 1 else hint
    return hint


def _holds(hint: Hint) -> bool:
    """Whether columns hold such values."""
    if isinstance(hint, TypeVar):
        return False
    try:
        type_of(hint)
    except (OuzelError, NameError, TypeError):
        return False
    return True


class _NoRecords(TypeError):
    """What a function of flat_map gives holds no records."""

    def __init__(self, made: object) -> None:
        super().__init__(f"{made!r:.60}, which is of type {type(made).__name__}")
        self.instead = "return a list, or write map(...) for one record"
        if isinstance(made, Mapping):
            self.instead = "return its .items() for pairs, or a list of its keys"


def _try(
    function: Callable[..., Any], kind: StepKind, samples: Iterable[Any], raised: list[BaseException]
) -> Iterator[Any]:
    """What the function gives for these; of what it cannot take nothing but what is `raised`."""
    function = copy_for_trial(function)
    for sample in samples:
        try:
            made = function(sample)
            if kind is StepKind.FLAT_MAP and (isinstance(made, str | Mapping) or not isinstance(made, Iterable)):
                raise _NoRecords(made)
            yield from made if kind is StepKind.FLAT_MAP else (made,)
        except NOT_A_FAILURE:
            raise
        except BaseException as error:
            raised.append(error)
