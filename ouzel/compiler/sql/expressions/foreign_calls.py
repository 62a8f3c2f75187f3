"""Advice for calls as other dialects write them: the call that means the same here, with the user's own arguments."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from sqlglot import exp

from ouzel.compiler.functions.foreign_patterns import java_pattern
from ouzel.compiler.functions.formats import split_pattern
from ouzel.compiler.functions.pattern_casts import cast_of_pattern
from ouzel.compiler.sql.expressions.series import of_series

_UNITS = frozenset(
    [
        "YEAR",
        "QUARTER",
        "MONTH",
        "WEEK",
        "DAY",
        "HOUR",
        "MINUTE",
        "SECOND",
        "MILLISECOND",
        "MICROSECOND",
        "ISOWEEK",
        "DOW",
        "DOY",
        "EPOCH",
        "DAYOFWEEK",
        "DAYOFYEAR",
    ]
)
_CUT_TO = ("MINUTE", "HOUR", "DAY", "WEEK", "MONTH", "QUARTER", "YEAR")
_SHORT = {"D": "DAY", "DD": "DAY", "HH": "HOUR", "MI": "MINUTE", "N": "MINUTE", "SS": "SECOND", "S": "SECOND", "MM": "MONTH",
          "YY": "YEAR", "YYYY": "YEAR", "WW": "WEEK", "QQ": "QUARTER", "WEEKDAY": "DOW", "DW": "DOW"}  # fmt: skip
_TYPE = re.compile(
    r"(?:N?VARCHAR|N?CHAR|TEXT|STRING|(?:BIG|SMALL)?INT|INTEGER|DATE|DATETIME2?|TIMESTAMP|FLOAT|DOUBLE|REAL|DECIMAL|NUMERIC|(?:UN)?SIGNED)"
    r"(?:\s*\([\d\s,]*\))?",
    re.IGNORECASE,
)
_SPELLED = {"NVARCHAR": "VARCHAR", "NCHAR": "CHAR", "DATETIME2": "TIMESTAMP", "SIGNED": "BIGINT", "UNSIGNED": "BIGINT"}
_INTERVAL = re.compile(r"INTERVAL\s+'?(-?\d+)'?\s+([A-Za-z]+?)S?", re.IGNORECASE)

_READABLE = re.compile(r"(?:yyyy|MM|dd|HH|mm|ss|SSSSSS|SSS|''[^']*''|[^A-Za-z'])*")
"""Java's patterns that TO_DATE and TO_TIMESTAMP read."""


def read_unit(text: str) -> str:
    """The unit that an argument says, bare or as a text; empty if it says none."""
    word = text.strip("'").upper()
    word = word if word in _UNITS else word.removesuffix("S")
    return word if word in _UNITS else _SHORT.get(word, "")


def _text(argument: str) -> str | None:
    return argument[1:-1] if len(argument) > 1 and argument[0] == argument[-1] == "'" else None


def _time(argument: str) -> str:
    """A time as it is written; a text that is one becomes a TIMESTAMP."""
    found = re.fullmatch(r"'(\d{4}-\d\d-\d\d)(?:[ T](\d\d:\d\d:\d\d))?'", argument)
    return f"TIMESTAMP '{found[1]} {found[2] or '00:00:00'}'" if found else argument


def _difference(name: str, arguments: Sequence[str]) -> str:
    match [_time(argument) for argument in arguments]:
        case [unit, start, end] if name == "datediff" and read_unit(unit) == "DAY":
            midnights = f"DATEDIFF(CAST({end} AS DATE), CAST({start} AS DATE))"
            return f"TIMESTAMPDIFF(DAY, {start}, {end}) for full days, or {midnights} for the midnights between them"
        case [unit, start, end] if read_unit(unit):
            return f"TIMESTAMPDIFF({read_unit(unit)}, {start}, {end})"
        case [end, start, unit] if read_unit(unit):
            return f"TIMESTAMPDIFF({read_unit(unit)}, {start}, {end})"
        case [end, start] if name == "datediff":
            return f"TIMESTAMPDIFF(DAY, {start}, {end}), or DATEDIFF(CAST({end} AS DATE), CAST({start} AS DATE))"
    return ""


def _cut_off(_: str, arguments: Sequence[str]) -> str:
    match arguments:
        case [unit, time] if read_unit(unit) and _text(unit) is None:
            return f"DATE_TRUNC('{read_unit(unit)}', {time})"
        case [value, digits] if digits.isdigit():
            return f"SIGN({value}) * FLOOR(ABS({value}) * 1e{digits}) / 1e{digits} to cut, or ROUND({value}, {digits})"
        case [time, unit] if read_unit(unit) and not read_unit(time):
            return f"DATE_TRUNC('{read_unit(unit)}', {time})"
    return ""


def _sum(name: str, arguments: Sequence[str]) -> str:
    match [_time(argument) for argument in arguments]:
        case [unit, count, time] if read_unit(unit):
            return f"TIMESTAMPADD({read_unit(unit)}, {count}, {time})"
        case [time, span] if found := _INTERVAL.fullmatch(span):
            return f"{time} {'-' if name.endswith('sub') else '+'} INTERVAL '{found[1]}' {found[2].upper()}"
    return ""


def _part(_: str, arguments: Sequence[str]) -> str:
    match arguments:
        case [unit, time] if read_unit(unit):
            return f"UNIX_SECONDS({time})" if read_unit(unit) == "EPOCH" else f"EXTRACT({read_unit(unit)} FROM {time})"
    return ""


def _convert(name: str, arguments: Sequence[str]) -> str:
    """T-SQL has the type first and MySQL last; a style is of a text that a time becomes."""
    kind, value, style = (*arguments, "", "", "")[:3]
    if not _TYPE.fullmatch(kind):
        kind, value = value, kind
    if not value or not _TYPE.fullmatch(kind):
        return ""
    word = kind.partition("(")[0].strip().upper()
    cast = f"{'TRY_' * name.startswith('try_')}CAST({value} AS {_SPELLED.get(word, word)}{kind[len(kind.partition('(')[0]) :]})"
    return f"{cast}, or DATE_FORMAT({value}, 'yyyy-MM-dd') for a time in a style" if style else cast


def _divide(name: str, arguments: Sequence[str]) -> str:
    if len(arguments) != 2:
        return ""
    quotient = f"CAST({arguments[0]} AS DOUBLE) / NULLIF({arguments[1]}, 0)"
    return f"COALESCE({quotient}, 0)" if name == "div0" else quotient


def _shown_time(_: str, arguments: Sequence[str]) -> str:
    """DATE_FORMAT of a time and a pattern; BigQuery and SQLite have the pattern first. A pattern of digits is of a number."""
    if len(arguments) == 2 and re.fullmatch(r"'[\s09.,DGFMSLB$-]+'", arguments[1], re.IGNORECASE):
        digits = len(re.split("[.D]", arguments[1].strip("'"))[-1]) if re.search("[.D]", arguments[1]) else 0
        return f"CAST(CAST({arguments[0]} AS DECIMAL(18, {digits})) AS VARCHAR)"
    for pattern, time in (arguments[::-1], arguments) if len(arguments) == 2 else ():
        if (written := _text(pattern)) is not None and (java := java_pattern(written, oracle=True)):
            return f"DATE_FORMAT({time}, '{java}')"
    return ""


def _read_time(name: str, arguments: Sequence[str]) -> str:
    for pattern, text in (arguments[::-1], arguments) if len(arguments) == 2 else ():
        if (written := _text(pattern)) is not None and (java := java_pattern(written)) and _READABLE.fullmatch(java):
            to_date = "date" in name and not set(java) & set("Hhms")
            return f"{'TO_DATE' if to_date else 'TO_TIMESTAMP'}({text}, '{java}')"
    return ""


def _tried_time(name: str, arguments: Sequence[str]) -> str:
    """A time that is NULL where a text is none: TRY_CAST, of a text whose parts are put in order where a pattern says another one."""
    kind = "DATE" if name.endswith("date") else "TIMESTAMP"
    if len(arguments) == 1:
        return f"TRY_CAST({arguments[0]} AS {kind})"
    for pattern, text in (arguments[::-1], arguments) if len(arguments) == 2 else ():
        if (written := _text(pattern)) is not None and re.search("[yY].*[dD]|[dD].*[yY]", written):
            java = (java_pattern(written) or written).replace("''", "'")
            return cast_of_pattern(text, java, split_pattern(java), kind)
    return ""


def _window(_: str, arguments: Sequence[str]) -> str:
    """Spark has the time first, and TimescaleDB the size."""
    if len(arguments) != 2:
        return ""
    size = next((argument for argument in arguments if re.match(r"'|INTERVAL\b", argument, re.IGNORECASE)), "")
    found = re.search(r"(\d+)'?\s*([A-Za-z]+)", size)
    if not found or not read_unit(found[2]):
        return ""
    time = next(argument for argument in arguments if argument != size)
    window = f"TUMBLE(TABLE t, DESCRIPTOR({time}), INTERVAL '{found[1]}' {read_unit(found[2])})"
    return f"FROM {window} with your table for t, and GROUP BY window_start, window_end"


def _remainder(_: str, arguments: Sequence[str]) -> str:
    match arguments:
        case [a, b]:
            return f"MOD(MOD({a}, {b}) + {b}, {b})"
    return ""


def _row(_: str, arguments: Sequence[str]) -> str:
    """A struct's fields with their names, which a ROW has not."""
    values = [re.sub(r"(?is)\s+AS\s+\w+$|^\w+\s*:=\s*", "", argument) for argument in arguments]
    return f"ROW({', '.join(values)})" if arguments else ""


def _window_of_size(name: str, arguments: Sequence[str]) -> str:
    """Windows of Spark and others that have the time first."""
    if (
        len(arguments) < 2
        or not (found := re.search(r"(\d+)'?\s*([A-Za-z]+)", arguments[1]))
        or not read_unit(found[2])
    ):
        return ""
    size = f"INTERVAL '{found[1]}' {read_unit(found[2])}"
    if name == "session_window":
        return f"GROUP BY SESSION({arguments[0]}, {size})"
    return _window(name, arguments[:2])


def _first(name: str, arguments: Sequence[str]) -> str:
    called = "FIRST_VALUE" if name in ("first", "earliest_by_offset", "arg_first") else "LAST_VALUE"
    return f"{called}({arguments[0]} ORDER BY time), with the column of the time" if arguments else ""


def _count_elements(_: str, arguments: Sequence[str]) -> str:
    return f"CARDINALITY({arguments[0]})" if arguments else ""


def _quantile(_: str, arguments: Sequence[str]) -> str:
    return f"PERCENTILE_CONT({arguments[1]}) WITHIN GROUP (ORDER BY {arguments[0]})" if len(arguments) == 2 else ""


def _age(_: str, arguments: Sequence[str]) -> str:
    match arguments:
        case [later, earlier]:
            return f"TIMESTAMPDIFF(DAY, {earlier}, {later})"
        case [earlier]:
            return f"TIMESTAMPDIFF(DAY, {earlier}, later), where later is a time of the row: there is no clock"
    return ""


def _each(_: str, arguments: Sequence[str]) -> str:
    return f"FROM t CROSS JOIN UNNEST({arguments[0]}) AS u (element), with your table for t" if arguments else ""


def _shown_number(name: str, arguments: Sequence[str]) -> str:
    """FORMAT and PRINTF: a pattern and values in C's and Python's, a number and digits in MySQL's."""
    texts = [argument for argument in arguments if _text(argument) is None]
    if not texts:
        return ""
    if _text(arguments[0]) is not None:
        return f"a text of its parts with ||, numbers as CAST({texts[0]} AS VARCHAR)"
    digits = arguments[1] if len(arguments) > 1 and arguments[1].isdigit() else "2"
    return f"CAST(CAST({arguments[0]} AS DECIMAL(18, {digits})) AS VARCHAR)"


def _series(_: str, arguments: Sequence[str]) -> str:
    numbers = len(arguments) in (2, 3) and all(re.fullmatch(r"-?\d+", argument) for argument in arguments)
    return of_series(arguments) or f"FROM UNNEST(SEQUENCE({', '.join(arguments)})) AS u (n)" * numbers


def _same(template: str, count: int) -> Callable[[str, Sequence[str]], str]:
    return lambda _, arguments: template.format(*arguments) if len(arguments) == count else ""


def _bucket(_: str, arguments: Sequence[str]) -> str:
    """The number of the part of equal width, 0 below the first and one more than there are above the last."""
    match arguments:
        case [value, low, high, count]:
            part = f"CAST(FLOOR(1e0 * ({value} - {low}) * {count} / ({high} - {low})) AS INT) + 1"
            return f"LEAST(GREATEST({part}, 0), {count} + 1)"
    return ""


def _decode(_: str, arguments: Sequence[str]) -> str:
    value, *rest = arguments or [""]
    pairs = " ".join(f"WHEN {key} THEN {given}" for key, given in zip(rest[::2], rest[1::2], strict=False))
    otherwise = f" ELSE {rest[-1]}" if len(rest) % 2 else ""
    return f"CASE {value} {pairs}{otherwise} END" if pairs else ""


def _number_pairs(arguments: Sequence[str]) -> list[str]:
    """A number and values, as a value and the pairs of DECODE."""
    pairs = ((str(number), value) for number, value in enumerate(arguments[1:], 1))
    return [*arguments[:1], *(part for pair in pairs for part in pair)]


_CALLS: dict[str, Callable[[str, Sequence[str]], str]] = {
    **dict.fromkeys(("datediff", "date_diff", "timestamp_diff", "datetime_diff", "timestampdiff"), _difference),
    **dict.fromkeys(("date_trunc", "datetrunc", "timestamp_trunc", "datetime_trunc", "trunc"), _cut_off),
    **dict.fromkeys(("dateadd", "date_add", "date_sub", "timestamp_add", "timestamp_sub", "datetime_add", "datetime_sub"), _sum),
    **dict.fromkeys(("datepart", "date_part"), _part),
    **dict.fromkeys(("convert", "try_convert"), _convert),
    **dict.fromkeys(("safe_divide", "try_divide", "div0"), _divide),
    **dict.fromkeys(("to_char", "strftime", "format_timestamp", "format_date", "format_datetime"), _shown_time),
    **dict.fromkeys(("str_to_date", "strptime", "parse_timestamp", "parse_date", "parse_datetime"), _read_time),
    **dict.fromkeys(("try_to_timestamp", "try_to_date", "try_strptime"), _tried_time),
    **dict.fromkeys(("safe_parse_date", "safe_parse_timestamp", "safe_parse_datetime"), _tried_time),
    **dict.fromkeys(("window", "time_bucket"), _window),
    **dict.fromkeys(("timestamp_millis", "epoch_ms", "timestamp_ms", "to_timestamp_ms"), _same("TO_TIMESTAMP_LTZ({}, 3)", 1)),
    **dict.fromkeys(("timestamp_seconds", "from_epoch", "to_timestamp_s"), _same("TO_TIMESTAMP_LTZ({}, 0)", 1)),
    **dict.fromkeys(("timestamp_micros", "epoch_us", "timestamp_us"), _same("TO_TIMESTAMP_LTZ({}, 6)", 1)),
    **dict.fromkeys(("generate_array", "array_generate_range", "array_range"), _same("SEQUENCE({}, {})", 2)),
    **{f"tostartof{unit.lower()}": _same(f"DATE_TRUNC('{unit}', {{}})", 1) for unit in _CUT_TO},
    "countif": _same("COUNT_IF({})", 1),
    **dict.fromkeys(("sumif", "sum_if"), _same("SUM({}) FILTER (WHERE {})", 2)),
    "replicate": _same("REPEAT({}, {})", 2),
    "space": _same("REPEAT(' ', {})", 1),
    "choose": lambda name, arguments: _decode(name, _number_pairs(arguments)),
    "elt": lambda name, arguments: _decode(name, _number_pairs(arguments)),
    "stuff": _same("OVERLAY({0} PLACING {3} FROM {1} FOR {2})", 4),
    **dict.fromkeys(("date_from_parts", "datefromparts"), _same("MAKE_DATE({}, {}, {})", 3)),
    "pmod": _remainder,
    "decode": _decode,
    "if": _same("IF({}, {}, NULL)", 2),
    **dict.fromkeys(("struct", "struct_pack"), _row),
    "isnull": _same("COALESCE({}, {})", 2),
    "months_between": _same("TIMESTAMPDIFF(MONTH, {1}, {0})", 2),
    "iif": _same("IF({}, {}, {})", 3),
    "charindex": _same("POSITION({} IN {})", 2),
    "strpos": _same("POSITION({1} IN {0})", 2),
    **dict.fromkeys(("first", "last", "earliest_by_offset", "latest_by_offset"), _first),
    **dict.fromkeys(("quantile", "percentile", "quantile_cont"), _quantile),
    "age": _age,
    "width_bucket": _bucket,
    **dict.fromkeys(("generate_series", "generate_date_array", "generate_timestamp_array"), _series),
    **dict.fromkeys(("explode", "explode_outer", "inline"), _each),
    **dict.fromkeys(("array_length", "array_size", "array_count", "list_length"), _count_elements),
    **dict.fromkeys(("collect_set", "groupuniqarray", "array_unique_agg"), _same("COLLECT_LIST(DISTINCT {})", 1)),
    **dict.fromkeys(("grouparray", "list", "array_agg_distinct"), _same("ARRAY_AGG({})", 1)),
    **dict.fromkeys(("try_to_number", "to_number", "tonumber", "try_to_decimal"), _same("TRY_CAST({} AS DECIMAL(18, 2))", 1)),
    **dict.fromkeys(("toint", "toint64", "to_int", "toint32"), _same("CAST({} AS BIGINT)", 1)),
    **dict.fromkeys(("tofloat", "tofloat64", "to_double", "todouble"), _same("CAST({} AS DOUBLE)", 1)),
    **dict.fromkeys(("tostring", "to_varchar", "to_string"), _same("CAST({} AS VARCHAR)", 1)),
    **dict.fromkeys(("session_window", "time_window", "tumbling_window"), _window_of_size),
    **dict.fromkeys(("format", "printf", "format_number", "format_string", "text"), _shown_number),
    **dict.fromkeys(("logical_or", "boolor_agg"), _same("COUNT_IF({}) > 0", 1)),
    **dict.fromkeys(("logical_and", "booland_agg"), _same("COUNT_IF(NOT ({0})) = 0", 1)),
    "uniq": _same("COUNT(DISTINCT {})", 1),
    "uniqexact": _same("COUNT(DISTINCT {})", 1),
    "nullifzero": _same("NULLIF({}, 0)", 1),
    "zeroifnull": _same("COALESCE({}, 0)", 1),
    "nvl2": _same("IF({0} IS NOT NULL, {1}, {2})", 3),
    "date_bin": lambda name, arguments: _window(name, arguments[:2]),
    **dict.fromkeys(("timestamp", "datetime"), _same("CAST({} AS TIMESTAMP)", 1)),
    "square": _same("{0} * {0}", 1),
}  # fmt: skip
_UNIT_IS_WRONG = {
    **dict.fromkeys(("date_trunc", "timestamp_trunc", "datetime_trunc"), "{} takes the unit first, as a text"),
    **dict.fromkeys(("timestamp_diff", "timestampdiff"), "{} takes the unit first, and then the earlier time"),
    "datediff": "DATEDIFF takes two dates and no unit",
    **dict.fromkeys(("date_add", "date_sub"), "{} takes a date and a number of days"),
    **dict.fromkeys(("timestamp_add", "timestamp_sub"), "{} takes a unit, a count and a time"),
}
"""Calls that we have with other arguments: what is said of one with a unit, or an interval, where none can stand."""


def of_call(name: str, arguments: Sequence[str]) -> str:
    """Advice for a call as other dialects write it; empty if there is none."""
    advice = _CALLS[name](name, arguments) if name in _CALLS else ""
    return f"write {advice}" if advice else ""


def of_units(name: str, arguments: Sequence[str]) -> tuple[str, str]:
    """What is wrong with a call of ours whose unit stands where none can, and what to write; empty texts if nothing is."""
    if name not in _UNIT_IS_WRONG or not arguments or (name == "datediff" and len(arguments) != 3):
        return "", ""
    takes_it = name == "timestampdiff" or (name == "timestamp_diff" and _text(arguments[0]) is not None)
    if takes_it and read_unit(arguments[0]):
        return "", ""
    advice = of_call(name, arguments)
    return (_UNIT_IS_WRONG[name].format(name.upper()), advice) if advice else ("", "")


def of_safe_call(node: exp.Expr, shown: Callable[[exp.Expr], str]) -> str:
    """Advice for BigQuery's `SAFE.f(...)`, which is NULL where f fails; empty for all else."""
    call = node.expression
    if not isinstance(call, exp.Anonymous) or node.this.name.upper() != "SAFE":
        return ""
    name, arguments = call.name.lower(), [shown(argument) for argument in call.expressions]
    named = next((known for known in (f"safe_{name}", f"try_{name}") if known in _CALLS), "")
    return (
        of_call(named, arguments)
        or "SAFE. is not known here: write TRY_CAST for a cast, and NULLIF(b, 0) for a divisor"
    )
