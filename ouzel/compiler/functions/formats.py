"""Java's date patterns: DATE_FORMAT, TO_TIMESTAMP, TO_DATE, FROM_UNIXTIME and UNIX_TIMESTAMP.

Letters taken for writing: yyyy yy MM M MMM MMMM dd d DDD HH H hh h mm ss SSS SSSSSS a E EEEE, text in quotes, and signs. For reading:
yyyy MM dd HH mm ss SSS SSSSSS, text in quotes, and signs. Any other letter is refused when the query is compiled.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from ouzel.compiler.expressions import Expression, Literal
from ouzel.compiler.functions.casts import convert_value
from ouzel.compiler.functions.foreign_patterns import java_pattern
from ouzel.compiler.functions.lowering import constant_of, with_errors
from ouzel.compiler.functions.pattern_casts import cast_of_pattern
from ouzel.compiler.functions.registry import Function, Lowered, Signature, SparkLowering
from ouzel.compiler.functions.search import literal_at, text_at
from ouzel.compiler.functions.signatures import overloads
from ouzel.compiler.types import BIGINT, DATE, TIMESTAMP, TIMESTAMP_LTZ, VARCHAR, to_polars
from ouzel.errors import NotSupported, QueryError

if TYPE_CHECKING:
    import polars as pl

_WRITTEN = {
    "yyyy": "%Y", "yy": "%y", "MM": "%m", "M": "%-m", "MMM": "%b", "MMMM": "%B", "dd": "%d", "d": "%-d", "DDD": "%j", "HH": "%H",
    "H": "%-H", "hh": "%I", "h": "%-I", "mm": "%M", "m": "%-M", "ss": "%S", "s": "%-S", "SSS": "%3f", "SSSSSS": "%6f", "a": "%p",
    "E": "%a", "EEE": "%a", "EEEE": "%A",
}  # fmt: skip
_READ = {"yyyy": "%Y", "MM": "%m", "dd": "%d", "HH": "%H", "mm": "%M", "ss": "%S", "SSS": "%3f", "SSSSSS": "%6f"}
_PARTS = {"Q": "EXTRACT(QUARTER FROM t)", "q": "EXTRACT(QUARTER FROM t)", "w": "EXTRACT(WEEK FROM t)"}
"""What gives the parts of a time that patterns do not write."""
_DIGITS = {"%Y": r"\d{4}", "%3f": r"\d{3}", "%6f": r"\d{6}", "%S": r"[0-5]\d"}
YEARS_S = 8_200_000_000_000
"""Seconds to about the year 261,000, where the calendar of the streaming engine ends; Spark's ends in 294,247."""
BEYOND = "a timestamp beyond the year 261,000"
_LAST_S = 253_402_300_799
"""The end of the year 9999, in seconds."""


def check_seconds(arguments: Sequence[Expression]) -> None:
    """See that a constant number of seconds is none of milliseconds or of less.

    Raises:
        QueryError: they would lead beyond the year 9999.
    """
    number = arguments[0]
    if isinstance(number, Literal) and isinstance(number.value, int) and abs(number.value) > _LAST_S:
        unit, count = ("milliseconds", 1_000) if abs(number.value) < _LAST_S * 1_000 else ("microseconds", 1_000_000)
        told = f"{number.value} seconds lead beyond the year 9999"
        raise QueryError(told, instead=f"write {number.value} / {count} if these are {unit}")


DEFAULT = "yyyy-MM-dd HH:mm:ss"
_UNREADABLE = "text that does not fit the date pattern"


def split_pattern(pattern: str) -> Iterator[tuple[str, bool]]:
    """The pattern's runs of letters (True) and literal text (False)."""
    for found in re.finditer(r"'((?:[^']|'')*)'|([A-Za-z])\2*|[^A-Za-z']+|'", pattern):
        if found[0] == "'" or found[0].startswith("["):
            raise NotSupported(f"the date pattern '{pattern}' has an open quote", instead="double it to write a quote")
        if found[0].startswith("'"):
            yield ("'" if found[0] == "''" else found[1].replace("''", "'")), False
        else:
            yield found[0], bool(found[2])


def strftime(pattern: str, known: dict[str, str]) -> str:
    """The pattern in strftime's letters.

    Raises:
        NotSupported: a letter that is not `known`.
    """
    out = ""
    for text, letters in split_pattern(pattern):
        if letters and text not in known:
            java = java_pattern(pattern) or _with_quotes(pattern)
            meant = java and all(word in known for word, is_word in split_pattern(java.replace("''", "'")) if is_word)
            advice = (
                f"write '{java}'" if meant else f"use {_PARTS.get(text[0], ' '.join(known) + ' and text in quotes')}"
            )
            raise NotSupported(f"the date pattern '{pattern}' uses {text}, which is not supported", instead=advice)
        if not letters and any(sign in text for sign in "[]{}#"):
            raise NotSupported(f"the date pattern '{pattern}' uses one of [ ] {{ }} #", instead="put it in quotes")
        out += known[text] if letters else text.replace("%", "%%")
    return out


def _with_quotes(pattern: str) -> str:
    """The pattern with its T as text; reading and writing know no such letter."""
    return re.sub("(?<!')T(?!')", "''T''", pattern.replace("'", "''")) if "T" in pattern else ""


def _advise_of_reading(text: Expression, pattern: str, kind: str) -> str:
    """What reads such texts where the pattern has letters that are not read; empty if nothing does."""
    written = text.written.part if text.written else str(text)
    found = {run for run, letters in split_pattern(pattern) if letters}
    if found & {"hh", "h"} and "a" not in found and (found - {"hh", "h"}) <= _READ.keys():
        return f"write '{re.sub('h+', 'HH', pattern)}', for hh is the hour beside AM or PM"
    if any(run[0] in "XZV" for run in found) and pattern.startswith("yyyy-MM-dd"):
        return f"write CAST({written} AS TIMESTAMP_LTZ), which reads texts with an offset"
    cast = cast_of_pattern(written, pattern, split_pattern(pattern), kind, tried=False)
    return f"write {cast}" if cast else ""


def shape(pattern: str) -> str:
    """A regular expression for the texts that a pattern reads."""
    out = ""
    for text, letters in split_pattern(pattern):
        out += _DIGITS.get(_READ[text], r"\d\d") if letters else re.escape(text)
    return f"^{out.replace(chr(92) + 'd', '[0-9]')}$"


def _check(name: str, position: int, known: dict[str, str]) -> Callable[[Sequence[Expression]], None]:
    literal = literal_at(name, position)

    def check(arguments: Sequence[Expression]) -> None:
        literal(arguments)
        pattern = text_at(arguments, position)
        if pattern is None:
            return
        try:
            strftime(pattern, known)
        except NotSupported as error:
            kind = "DATE" if name == "to_date" else "TIMESTAMP"
            if known is _READ and (advice := _advise_of_reading(arguments[0], pattern, kind)):
                error.instead = advice
            raise

    return check


_check_written = _check("from_unixtime", 1, _WRITTEN)


def _check_unixtime(arguments: Sequence[Expression]) -> None:
    check_seconds(arguments)
    _check_written(arguments)


def _pattern(arguments: Sequence[Lowered], default: str = DEFAULT) -> str:
    pattern = arguments[1].literal if len(arguments) > 1 else default
    assert isinstance(pattern, str)
    return pattern


def _date_format(arguments: Sequence[Lowered], signature: Signature) -> Lowered:
    value = arguments[0].value.dt.replace_time_zone(None)
    return with_errors(value.dt.to_string(strftime(_pattern(arguments), _WRITTEN)), arguments)


def read(text: pl.Expr, pattern: str) -> tuple[pl.Expr, pl.Expr]:
    """Text as a TIMESTAMP by a pattern, and where it does not fit."""
    import polars as pl

    fitting: pl.Expr = pl.when(text.str.contains(shape(pattern))).then(text)
    form = strftime(pattern, _READ)
    if not any(letter in form for letter in ("%H", "%M", "%S")):
        fitting, form = fitting + " 00:00:00", form + " %H:%M:%S"
    for letter, missing in (("%Y", " 1970"), ("%m", " 01"), ("%d", " 01"), ("%H", " 00"), ("%M", " 00"), ("%S", " 00")):
        if letter not in form:
            fitting, form = fitting + missing, f"{form} {letter}"
    value = fitting.str.to_datetime(form, time_unit="us", strict=False)
    return value, value.is_null() & text.is_not_null()


def _reading(local: bool) -> Callable[[Sequence[Lowered], Signature], Lowered]:
    def lower(arguments: Sequence[Lowered], signature: Signature) -> Lowered:
        text = arguments[0].value
        if len(arguments) == 1:
            value, error = convert_value(text, VARCHAR, signature.result, False)
            return with_errors(value, arguments, error, _UNREADABLE)
        value, error = read(text, _pattern(arguments))
        return with_errors(value.cast(to_polars(signature.result)), arguments, error, _UNREADABLE)

    return lower


def _where(condition: pl.Expr, value: pl.Expr) -> pl.Expr:
    import polars as pl

    return pl.when(condition).then(value)


def _from_unixtime(arguments: Sequence[Lowered], signature: Signature) -> Lowered:
    seconds = arguments[0].value
    near = seconds.is_between(-YEARS_S, YEARS_S)
    point = (_where(near, seconds) * 1_000_000).cast(to_polars(TIMESTAMP))
    return with_errors(
        point.dt.to_string(strftime(_pattern(arguments), _WRITTEN)),
        arguments,
        ~near,
        BEYOND,
    )


def _unix_timestamp(arguments: Sequence[Lowered], signature: Signature) -> Lowered:
    value = arguments[0].value
    error: pl.Expr | None = None
    if signature.parameters[0] == VARCHAR:
        value, error = read(value, _pattern(arguments))
    return with_errors(value.to_physical().truncdiv(1_000_000), arguments, error, _UNREADABLE)


def _spark(name: str) -> SparkLowering:
    """A call whose second argument, the pattern, is a Python text."""

    def lower(arguments: Sequence[str], signature: Signature) -> str:
        return f"F.{name}({', '.join([arguments[0], *map(constant_of, arguments[1:])])})"

    return lower


def _spark_ntz(arguments: Sequence[str], signature: Signature) -> str:
    return f"F.to_timestamp_ntz({', '.join(arguments)})"


_PATTERN_EXAMPLES: tuple[tuple[int, tuple[object, ...]], ...] = (
    (
        1,
        (
            "yyyy-MM-dd",
            "yyyy-MM-dd'T'HH:mm:ss.SSS",
            "d/M/yy h:mm a",
            "EEEE, MMM dd yyyy",
            "HH:mm:ss.SSSSSS",
            "E DDD ''H''",
            "yyyyMMdd",
        ),
    ),
)
_READ_EXAMPLES: tuple[tuple[int, tuple[object, ...]], ...] = (
    (1, ("yyyy-MM-dd", "yyyy-MM-dd HH:mm:ss", "yyyy-MM-dd'T'HH:mm:ss.SSS", "dd/MM/yyyy")),
)
_V = VARCHAR
FUNCTIONS: tuple[Function, ...] = (
    Function(
        "date_format", overloads(*(((kind, _V), _V) for kind in (TIMESTAMP, TIMESTAMP_LTZ))), _date_format, _spark("date_format"),
        "Written by a Java pattern.", "DATE_FORMAT(t, pattern)", check=_check("date_format", 1, _WRITTEN), examples=_PATTERN_EXAMPLES,
    ),
    Function(
        "to_timestamp", overloads(((_V, _V), TIMESTAMP), ((_V,), TIMESTAMP)), _reading(False), _spark_ntz,
        "Read by a Java pattern, without one as CAST does. What does not fit fails.", "TO_TIMESTAMP(text [, pattern])",
        check=_check("to_timestamp", 1, _READ), examples=_READ_EXAMPLES,
    ),
    Function(
        "to_date", overloads(((_V, _V), DATE), ((_V,), DATE)), _reading(False), _spark("to_date"),
        "Read by a Java pattern, without one as CAST does. What does not fit fails.", "TO_DATE(text [, pattern])",
        check=_check("to_date", 1, _READ), examples=_READ_EXAMPLES,
    ),
    Function(
        "from_unixtime", overloads(((BIGINT, _V), _V), ((BIGINT,), _V)), _from_unixtime, _spark("from_unixtime"),
        "Seconds since 1970, written in UTC by a Java pattern.", "FROM_UNIXTIME(seconds [, pattern])",
        check=_check_unixtime, examples=_PATTERN_EXAMPLES,
    ),
    Function(
        "unix_timestamp", overloads(((_V, _V), BIGINT), ((_V,), BIGINT), ((TIMESTAMP_LTZ,), BIGINT)), _unix_timestamp,
        _spark("unix_timestamp"), "Whole seconds since 1970 of an instant, or of text read by a Java pattern.",
        "UNIX_TIMESTAMP(t), UNIX_TIMESTAMP(text [, pattern])", check=_check("unix_timestamp", 1, _READ), examples=_READ_EXAMPLES,
    ),
)  # fmt: skip
