"""Advice in errors: a verb is called by another library's name, or with a wrong argument."""

from __future__ import annotations

import inspect
import re
import warnings
from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import timedelta
from decimal import Decimal
from difflib import get_close_matches
from functools import wraps
from typing import Any, Protocol, TypeVar, cast, runtime_checkable

from ouzel.callers import check_binding, drops_result, users_level
from ouzel.compiler.catalog import QueryWarning
from ouzel.compiler.records import MIXED, NO_COLUMN, Form, Hint, RecordType
from ouzel.compiler.types import DecimalType
from ouzel.dsl.elsewhere import ELSEWHERE, SESSIONS, WHOLE, advise_of_join, advise_of_sessions
from ouzel.dsl.expressions import Expr
from ouzel.dsl.producers import ConnectorTable
from ouzel.dsl.shapes import as_tuples
from ouzel.dsl.sink_advice import advise_of_sink
from ouzel.errors import QueryError
from ouzel.monoid import Monoid
from ouzel.spans import microseconds_of
from ouzel.uncalled import UserMethod


@runtime_checkable
class Columnar(Protocol):
    """A frame of Polars or pandas."""

    columns: Any
    shape: Any


@runtime_checkable
class Indexed(Protocol):
    """A series of pandas."""

    index: Any
    shape: Any

    def items(self) -> Any:
        """Pairs of the index and the values."""


U = TypeVar("U")
F = TypeVar("F", bound=Callable[..., Any])

MONOIDS = {
    sum: "Sum()", max: "Max()", min: "Min()", len: "Count()", any: "Or()", all: "And()", list: "ListOf()", set: "SetOf()",
    "sum": "Sum()", "max": "Max()", "min": "Min()", "count": "Count()", "mean": "Mean()", "avg": "Mean()", "list": "ListOf()",
}  # fmt: skip
"""What others add up by, and the monoid that does."""


def spelled_in_python(error: QueryError, options: Iterable[str]) -> QueryError:
    """The error with options as a program writes them: `csv_delimiter=';'` for SQL's `'csv.delimiter' = ';'`."""

    def respell(text: str) -> str:
        for name in options:
            written = re.sub("[.-]", "_", name)
            text = text.replace(f"'{name}' = ", f"{written}=").replace(f"'{name}'", written)
            if written != name:
                text = re.sub(rf"(?<![\w.-]){re.escape(name)}(?![\w.-])", written, text)
        return text.replace(" to WITH:", ":")

    return QueryError(respell(error.problem), instead=respell(error.instead))


def advise_of_type(why: str) -> str:
    """What to write where given records have no type that columns hold, for a reason or none."""
    if not why:
        return "write Source.of(records, tuple[str, int]) with the type of a record"
    if why.startswith(MIXED):
        return "make all of one type, as by str(record)"
    if why.startswith(NO_COLUMN) and ": " in why:  # the remedy is said
        return ""
    return "make it a dataclass, with @dataclass above the class, or a tuple of what columns hold: docs/dsl.md lists it"


def advise_of_verb(verb: str, fields: Iterable[str], verbs: Iterable[str]) -> str:
    """What is wrong with an attribute that a stream has not, whose records have these fields, and which has these verbs."""
    other = re.sub("(?<=[a-z])(?=[A-Z])", "_", verb).lower()
    fields = list(fields)
    if other in SESSIONS:
        return f"a stream has no {verb}(); {advise_of_sessions(fields)}"
    if other in ELSEWHERE:
        field = f"; for the field write lambda record: record.{verb}" if verb in fields else ""
        return f"a stream has no {verb}(); {ELSEWHERE[other]}{field}"
    if verb in fields:
        return (
            f"a stream has no {verb}, but its records have; "
            f"write a function of a record, lambda record: record.{verb}, or col({verb!r})"
        )
    near = get_close_matches(other, [name for name in verbs if not name.startswith("_")], 1)
    return f"a stream has no {verb}; {f'did you mean {near[0]}?' if near else 'see docs/dsl.md for what it has'}"


def mapping_of(given: Mapping[Any, U] | None) -> Mapping[Any, U]:
    """What is given to `collect`.

    Raises:
        QueryError: it is no mapping; says what to write.
    """
    if isinstance(given, Mapping):
        return given
    if given is None:
        raise QueryError("collect looks records up in a mapping, and none is given", instead=WHOLE)
    raise QueryError(
        "collect looks records up in a mapping, and this is none", instead="call option_map(function) for a function"
    )


def check_column(verb: str, given: object) -> None:
    """See that something is the name of a column.

    Raises:
        QueryError: it is not.
    """
    if not isinstance(given, str):
        shown = "a function" if callable(given) else f"{given!s:.60}"
        raise QueryError(f"{verb} takes the name of a column, not {shown}", instead=f"write {verb}('ts', delay)")


def check_columns(names: Iterable[object]) -> None:
    """See that what `select` is given without names are names of columns.

    Raises:
        QueryError: one is not; says what to write.
    """
    for given in names:
        if isinstance(given, str):
            continue
        instead = "write select('a', 'b')"
        if isinstance(given, list | tuple):
            instead = f"write select({', '.join(map(repr, given))})"
        if isinstance(given, Expr):
            name = given.shown if given.shown.isidentifier() else "name"
            instead = f"write select({name!r})" if name == given.shown else "write select(name=expression)"
        shown = f"the expression {given}" if isinstance(given, Expr) else f"{given!r:.60}"
        raise QueryError(
            f"select takes names of columns, and expressions by the names of new ones, not {shown}", instead=instead
        )


def check_monoid(verb: str, given: object) -> None:
    """See that something is a monoid.

    Raises:
        QueryError: it is not; says what to write.
    """
    if isinstance(given, Monoid):
        return
    said = given.__name__ if isinstance(given, type) else repr(given)
    made = isinstance(given, type) and issubclass(given, Monoid)
    if isinstance(given, ConnectorTable):
        said = f"the store '{given.name}'"
    known = MONOIDS.get(given) if isinstance(given, str | type) or inspect.isbuiltin(given) else None
    rest = {"sum_by_key": ", store", "sum_by_window": ", timedelta(hours=1)"}.get(verb, "")
    instead = f"write a monoid first, {verb}(monoid.Sum(){rest})"
    if isinstance(given, tuple | list) and all(isinstance(one, Monoid) for one in given):
        instead = "map the values to tuples, one part for each, and write monoid.TupleOf((…, …)) of these monoids"
    if known is not None or inspect.isroutine(given):
        said = given if isinstance(given, str) else getattr(given, "__name__", said)
        instead = f"write monoid.{known}" if known else "write monoid.Sum(), or a monoid.UserDefined(...) that calls it"
    raise QueryError(
        f"{verb} adds up by a monoid, and {said} is none", instead=f"write monoid.{said}()" if made else instead
    )


def check_arity(function: Callable[..., Any], called: str, *columns: str) -> None:
    """See that a function can be called with one record, or with the series of these columns.

    Raises:
        QueryError: it cannot; says what to write.
    """
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # of many that are written in C nothing is known
        return
    try:
        signature.bind(*(columns or (None,)))
    except TypeError as error:
        if columns:
            raise QueryError(
                f"{called} is given a series of each column, {', '.join(columns)}, and takes {signature}: {error}",
                instead=f"take all of them: def {called.rpartition(' ')[2]}({', '.join(columns)})",
            ) from None
        given, instead = _advise_of_arity(called.split()[0], bool(signature.parameters))
        raise QueryError(
            f"{called} is given {given} and nothing else, and as its arguments are {signature}, that fails: {error}",
            instead=instead,
        ) from None


def _advise_of_arity(verb: str, takes_some: bool) -> tuple[str, str]:
    """What a verb gives its function, and how one is written that takes it."""
    half = "value" if verb.endswith("_values") else "key" if verb.endswith("_keys") else ""
    if half:
        whole = verb.removesuffix(f"_{half}s")
        return (
            f"the {half} of each pair",
            f"write lambda {half}: …; or {whole}(lambda pair: … pair[0] … pair[1]) for both",
        )
    if takes_some:
        return "one record", "take a pair as one argument: lambda pair: … pair[0] … pair[1]"
    return "one record", "take it: lambda record: …"


def check_records(given: object) -> None:
    """See that these are records, one after the other, and nothing whose parts would be taken for them.

    Raises:
        QueryError: they are not; says what to write.
    """
    kind = type(given).__name__
    if isinstance(given, str | bytes):
        shown = given[:20]
        told, instead = f"{shown!r} is one {kind}, and its parts are no records", f"write Source.of([{shown!r}])"
    elif isinstance(given, Mapping):
        told, instead = (
            "a mapping gives its keys alone",
            "write Source.of(mapping.items()) for pairs, or Source.of(list(mapping))",
        )
    elif isinstance(given, Columnar):  # it gives columns, and their names
        rows = "rows" if hasattr(given, "rows") else "itertuples"
        arguments = "" if rows == "rows" else "index=False, name=None"
        told = f"a {kind} gives its columns, and they are no records"
        instead = f"write Source.of(frame.{rows}({arguments}), tuple[str, int]) with their types, or read its file: Source.file"
    elif not isinstance(given, Iterable):
        told, instead = f"{given!r} holds no records", "write Source.of([…])"
    else:
        return
    raise QueryError(told, instead=instead)


def check_decimals(record: RecordType, given: Iterable[object]) -> None:
    """See that no float stands where a record's type says Decimal: some fit by chance, and fail later.

    Raises:
        QueryError: one does.
    """
    decimals = [place for place, field in enumerate(record.columns) if isinstance(field.type, DecimalType)]
    for one in given if decimals else ():
        plain = as_tuples(one)
        values = plain if record.form is not Form.VALUE else (plain,)
        for place in decimals if isinstance(values, tuple | list) and len(values) == len(record.columns) else ():
            if isinstance(values[place], float):
                raise QueryError(
                    f"{record.columns[place].name} is Decimal, and the record {one!r:.80} has a float there",
                    instead=f"write Decimal('{values[place]!r}')",
                )


def check_table(verb: str, given: object, kind: str) -> None:
    """See that something can be written to.

    Raises:
        QueryError: it cannot; says what to write.
    """
    if not isinstance(given, ConnectorTable):
        instead = advise_of_sink(given)
        if kind == "Store":
            instead = "write Store.redis('counts', …) or Store.postgres('counts', …), or leave it out: table() gives the totals"
        raise QueryError(f"{verb} writes to a table, and {given!r:.60} is none", instead=instead)


def check_streams(tables: Mapping[str, object], kind: type) -> None:
    """See that what `sql` is given by name are streams.

    Raises:
        QueryError: one is not.
    """
    for name, given in tables.items():
        if not isinstance(given, kind):
            raise QueryError(
                f"sql() takes streams by name, as tables, and {name}={given!r:.60} is none",
                instead='write a value into the text: f"… WHERE amount > {limit}"',
            )


def check_expressions(items: Mapping[str, object]) -> None:
    """See that columns are made by expressions.

    Raises:
        QueryError: one is not; says what to write.
    """
    for name, given in items.items():
        if isinstance(given, Expr):
            continue
        advice = f"write select({name}=lit({given!r}))"
        if callable(given):
            advice = "call map(function), or write an expression: fn.lower(col('name'))"
        if isinstance(given, str):
            advice = f"write select({name}=col({given!r})) for a column, or lit({given!r}) for the text"
            if not given.isidentifier() and re.search(r"[-+*/(]", given):
                advice = f"write sql({f'SELECT {given} AS {name} FROM this'!r:.90}), or an expression of col('amount')"
        shown = "a function" if callable(given) else f"{given!r:.60}"
        raise QueryError(f"select makes columns by expressions, and {name}={shown} is none", instead=advice)


def check_span(what: str, given: object) -> None:
    """See that something is a span of time.

    Raises:
        QueryError: it is not.
    """
    if not isinstance(given, timedelta):
        raise QueryError(f"{what} is a timedelta, and {given!r} is none", instead=f"write {_meant_span(given)}")


def _meant_span(given: object) -> str:
    """The timedelta that somebody means who writes a number of seconds, or `1 day`; any other if it does not show."""
    if isinstance(given, int | float) and not isinstance(given, bool):
        return f"timedelta(seconds={given})"
    span_us = microseconds_of(str(given))
    return _spelled(timedelta(microseconds=span_us)) if span_us else "timedelta(minutes=5)"


def _spelled(span: timedelta) -> str:
    """A span of time as one would write it, in the largest unit that it is whole in."""
    if not span:
        return "timedelta(0)"
    units = (name for name in ("weeks", "days", "hours", "minutes", "seconds") if not span % timedelta(**{name: 1}))
    unit = next(units, "milliseconds")
    return f"timedelta({unit}={span // timedelta(**{unit: 1})})"


def of_no_windows(size: timedelta, slide: timedelta) -> QueryError:
    """The error for windows that cannot begin so far apart."""
    if size <= timedelta(0):
        return QueryError(
            f"the size of a window is {_spelled(size)}", instead="write one longer than nothing, timedelta(hours=1)"
        )
    instead = (
        f"take a slide that divides the size, as {_spelled(size / max(1, round(size / slide)))}"
        if slide
        else "leave the slide out"
    )
    if size < slide and not slide % size:
        instead = f"the size comes first: write {_spelled(slide)}, {_spelled(size)}"
    return QueryError(f"windows of {_spelled(size)} cannot begin every {_spelled(slide)}", instead=instead)


def of_no_stream(given: object, kind: type) -> QueryError:
    """The error for what is merged and is no stream."""
    instead = "to compute something of each record write stream.map(function)"
    if isinstance(given, list | tuple) and given and all(isinstance(one, kind) for one in given):
        instead = "give the streams one by one: merge(*streams)"
    elif isinstance(given, list | tuple):
        instead = "make a stream of records: merge(Source.of([…]))"
    return QueryError(f"a stream is merged with a stream, and {given!r:.60} is none", instead=instead)


def of_no_service(verb: str, given: object) -> QueryError:
    """The error for what is neither a stream of pairs nor a service."""
    shown, instead = f"{given!r:.60}", "give it something with get_many(keys), which gives a mapping"
    if isinstance(given, Mapping):
        shown, instead = f"the mapping {shown}", "write Source.of(list(mapping.items()))"
    elif isinstance(given, Columnar):
        shown, instead = f"a {type(given).__name__}", "write Source.of(frame.rows(), tuple[str, str]) of its pairs"
    elif isinstance(given, Indexed):
        shown, instead = (
            f"a {type(given).__name__}",
            "write Source.of(list(series.items()), tuple[str, str]) of its pairs",
        )
    elif isinstance(given, Collection) and not isinstance(given, str):
        instead = "write Source.of([...]) of its pairs"
    return QueryError(f"{verb} takes a stream of pairs or a service, not {shown}", instead=instead)


def advise_of_keys(ours: Hint, theirs: Hint) -> str:
    """What to write where the keys of two sides of a join are of these types."""
    shown = " and ".join(one.__name__ if isinstance(one, type) else str(one) for one in (ours, theirs))
    number = next((one for one in (ours, theirs) if one in (int, float, Decimal)), None)
    if number is None or str not in (ours, theirs):
        return f"their keys are {shown}; call map_keys(function) of one of them"
    return f"their keys are {shown}; write .map_keys({number.__name__}) behind the pairs whose key is a str"


def told_of_pipe(other: object, is_stream: bool) -> str:
    """What is told of `stream | other`, as Beam writes a step."""
    if is_stream:
        return "streams are not added by |; write a + b, or a.merge(b)"
    if callable(other):
        return "a step is no |, but a method of the stream; write stream.map(function), or stream.flat_map(function)"
    return "a step is no |, but a method of the stream; write stream.map(function): docs/dsl.md lists them"


def advise_of_function(verb: str, given: object) -> str:
    """What to write where a verb is given no function."""
    if isinstance(given, Expr) or (isinstance(given, tuple) and all(isinstance(one, Expr) for one in given)):
        return _advise_select(given if isinstance(given, tuple) else (given,))
    if type(given).__module__.startswith("polars"):
        wanted = "filter" if verb == "filter" else "select"
        return f"write {wanted} with col(…) of ouzel, from ouzel import col, or {verb}(lambda record: …)"
    if isinstance(given, str) and given.isidentifier():
        return f"write {verb}(lambda record: record.{given})"
    if isinstance(given, str) and verb == "filter":
        return f"write filter(lambda record: …), or sql({f'SELECT * FROM this WHERE {given}'!r:.80})"
    return f"write {verb}(lambda record: …)"


def _advise_select(given: tuple[Expr, ...]) -> str:
    """The select that expressions belong into which a map is given."""
    named = (one.shown if one.shown.isidentifier() else "" for one in given)
    parts = ", ".join(f"{name or 'name'}={one}" for name, one in zip(named, given, strict=True))
    return f"expressions make columns by select: write select({parts})"


EXAMPLES = {
    "monoid": "monoid.Sum()",
    "size": "timedelta(hours=1)",
    "column": "'ts'",
    "sink": "Sink.file('path')",
    "others": "other",
}
"""What is given for a parameter of a verb, for advice."""


C = TypeVar("C", bound=type)


def check_verbs(stream: C) -> C:
    """The class of streams, whose verbs say how they are called where they are given arguments that they do not take."""
    for verb, method in list(vars(stream).items()):
        if inspect.isfunction(method) and not verb.startswith("_"):
            setattr(stream, verb, UserMethod(_check_verb(method)))
    return stream


def _check_verb(method: F) -> F:
    taken, verb = inspect.signature(method).parameters, method.__name__

    def refuse(error: TypeError, named: dict[str, Any]) -> QueryError:
        shown = ", ".join(_spell_parameter(one) for name, one in taken.items() if name != "self")
        asked = (EXAMPLES.get(name, name) for name, one in taken.items() if one.default is one.empty and name != "self")
        instead = f"write {verb}({', '.join(asked) if 'missing' in str(error) and 'items' not in taken else shown})"
        if "name" in named and "name" not in taken:
            instead = f"call name({named['name']!r}) behind it: {verb}({', '.join(asked)}).name({named['name']!r})"
        if verb == "write":
            options = ", ".join(["'path'", *(f"{name}={given!r}" for name, given in named.items() if name != "sink")])
            instead = f"options are the sink's: write(Sink.file({options}))"
            if "too many" in str(error):
                instead = "call it once for each sink: stream.write(a).write(b)"
        if "join" in verb or verb == "lookup":
            instead = advise_of_join(verb, named)
        return QueryError(f"{verb} takes {shown}: {error}", instead=instead)

    return check_binding(_warn_of_drops(method), refuse)


CALLS_OF_A_VERB = 3
"""From the user's line to a verb: what shows it as a method, what checks its arguments, and what looks at its result."""


def _warn_of_drops(method: F) -> F:
    """The verb, which warns where the new stream that it gives is not taken."""

    @wraps(method)
    def call(self: Any, *given: Any, **named: Any) -> Any:
        made = method(self, *given, **named)
        if isinstance(made, type(self)) and drops_result(CALLS_OF_A_VERB):
            warnings.warn(
                f"{method.__name__} gives a new stream and leaves this one as it is, and nothing takes it; "
                f"write stream = stream.{method.__name__}(…)",
                QueryWarning,
                stacklevel=users_level(),
            )
        return made

    return cast(F, call)


def _spell_parameter(parameter: inspect.Parameter) -> str:
    """A parameter as a call has it: by its name alone, `name=…`, or in its place."""
    if parameter.kind is inspect.Parameter.VAR_KEYWORD:
        return "name=…"
    return f"{parameter.name}=…" if parameter.kind is inspect.Parameter.KEYWORD_ONLY else parameter.name


def check_text_name(what: str, given: object) -> None:
    """See that a name is a text.

    Raises:
        QueryError: it is not.
    """
    if not isinstance(given, str) or not given:
        raise QueryError(
            f"{what} is a text, and {given!r:.60} is none", instead=f"write name={str(given or 'orders')!r:.60}"
        )
