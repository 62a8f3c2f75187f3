"""Random expressions of a wanted kind over given columns; most are right, some fail rows, as people's do."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from random import Random

from tests.fuzz.tables import TEXTS

Columns = Sequence[tuple[str, str]]
"""Name and kind of what a query sees; kinds are `number`, `decimal`, `double`, `text`, `bool`, `date`, `time`, `instant`, `bytes`, `ints`,
`texts`, `row`, `rows`, or anything else that can only be passed on."""


def kind_of(type_name: str) -> str:
    """The kind of a column with this type, as Ouzel prints it."""
    exact = {
        "BOOLEAN": "bool",
        "STRING": "text",
        "VARCHAR": "text",
        "BYTES": "bytes",
        "DATE": "date",
        "TIMESTAMP(6)": "time",
        "TIMESTAMP": "time",
        "TIMESTAMP_LTZ(6)": "instant",
        "TIMESTAMP_LTZ": "instant",
        "DOUBLE": "double",
        "FLOAT": "double",
        "ARRAY<INT>": "ints",
        "ARRAY<STRING>": "texts",
        "ARRAY<VARCHAR>": "texts",
        "ROW<a INT, b STRING>": "row",
        "ARRAY<ROW<p INT, q STRING>>": "rows",
        "TINYINT": "number",
        "SMALLINT": "number",
        "INT": "number",
        "BIGINT": "number",
    }
    return "decimal" if type_name.startswith("DECIMAL") else exact.get(type_name, "other")


def quoted(text: str) -> str:
    """The text as a literal."""
    return "'" + text.replace("'", "''") + "'"


class Expressions:
    """A source of expressions over `columns`."""

    def __init__(self, dice: Random, columns: Columns) -> None:
        self.dice, self.columns = dice, columns

    def of(self, kind: str, depth: int = 2) -> str:
        """An expression of the kind, at most so deep."""
        if depth <= 0 or self.dice.random() < 0.25:
            return self.leaf(kind)
        makers = MAKERS.get(kind, ())
        return self.dice.choice([*makers, _case, _coalesce])(self, kind, depth - 1) if makers else self.leaf(kind)

    def leaf(self, kind: str) -> str:
        """A column, or a literal where there is none."""
        named = [name for name, own in self.columns if own == kind]
        if named and (self.dice.random() < 0.8 or kind not in LITERALS):
            return self.dice.choice(named)
        return self.dice.choice(LITERALS[kind])

    def has(self, kind: str) -> bool:
        """Whether it can make the kind."""
        return kind in LITERALS or any(own == kind for _, own in self.columns)

    def some_kind(self) -> str:
        """Any kind that it can make."""
        return self.dice.choice([kind for kind in (*LITERALS, "row", "rows") if self.has(kind)])


LITERALS: dict[str, tuple[str, ...]] = {
    "number": (
        "0",
        "1",
        "-1",
        "2",
        "7",
        "100",
        "2147483647",
        "9223372036854775807",
        "CAST(3 AS TINYINT)",
        "CAST(-9 AS BIGINT)",
    ),
    "decimal": ("0.5", "-1.25", "10.00", "99999999.99", "CAST(1 AS DECIMAL(10, 2))", "CAST(0.1 AS DECIMAL(38, 10))"),
    "double": (
        "0e0",
        "1.5e0",
        "-2e0",
        "1e-3",
        "CAST('NaN' AS DOUBLE)",
        "CAST(0.25 AS FLOAT)",
        "CAST('-0.0' AS DOUBLE)",
    ),
    "text": tuple(map(quoted, TEXTS)),
    "bool": ("TRUE", "FALSE", "CAST(NULL AS BOOLEAN)"),
    "date": ("DATE '2024-02-29'", "DATE '1969-12-31'", "DATE '1582-10-04'"),
    "time": (
        "TIMESTAMP '2024-02-29 23:59:59.999999'",
        "TIMESTAMP '1969-12-31 23:59:59.5'",
        "TIMESTAMP '1900-01-01 00:00:00'",
    ),
    "instant": ("TIMESTAMP_LTZ '2024-02-29 00:00:00.000001Z'", "TIMESTAMP_LTZ '1969-12-31 23:00:00+02:00'"),
    "bytes": ("x'00ff'", "x''", "x'616263'"),
    "ints": ("ARRAY[1, 2, 3]", "ARRAY[3, NULL, 3]"),
    "texts": ("ARRAY['a', 'b']", "ARRAY['', NULL]"),
}

Maker = Callable[[Expressions, str, int], str]


def _case(make: Expressions, kind: str, depth: int) -> str:
    otherwise = f" ELSE {make.of(kind, depth)}" if make.dice.random() < 0.7 else ""
    whens = "".join(
        f" WHEN {make.of('bool', depth)} THEN {make.of(kind, depth)}" for _ in range(make.dice.randint(1, 2))
    )
    return f"CASE{whens}{otherwise} END"


def _coalesce(make: Expressions, kind: str, depth: int) -> str:
    name = make.dice.choice(["COALESCE", "NULLIF", "IF"])
    condition = f"{make.of('bool', depth)}, " if name == "IF" else ""
    return f"{name}({condition}{make.of(kind, depth)}, {make.of(kind, depth)})"


def _form(template: str) -> Maker:
    """A maker from a template: `{number}` stands for an expression of that kind."""

    def make(source: Expressions, kind: str, depth: int) -> str:
        return re.sub(r"\{(\w+)\}", lambda match: source.of(match[1], depth), template)

    return make


def _compare(make: Expressions, kind: str, depth: int) -> str:
    own = make.dice.choice(
        [kind for kind in ("number", "decimal", "double", "text", "date", "time", "instant", "bytes") if make.has(kind)]
    )
    sign = make.dice.choice(["=", "<>", "<", "<=", ">", ">=", "IS DISTINCT FROM", "IS NOT DISTINCT FROM"])
    return f"({make.of(own, depth)} {sign} {make.of(own, depth)})"


def _null_test(make: Expressions, kind: str, depth: int) -> str:
    return f"({make.of(make.some_kind(), depth)} IS {make.dice.choice(['', 'NOT '])}NULL)"


def _unparenthesized(make: Expressions, kind: str, depth: int) -> str:
    """Operators whose precedence decides what they mean; their operands need none."""
    one, other, some, more = (f"({make.of(own, depth - 1)})" for own in ("number", "number", "bool", "bool"))
    sign, word = make.dice.choice(("=", "<>", "<", ">=")), make.dice.choice(("", "NOT "))
    forms = (
        f"{one} {sign} {other} IS {word}NULL",
        f"{one} {sign} {other} IS {word}TRUE",
        f"{one} {sign} {other} IS {word}DISTINCT FROM {some}",
        f"{some} IS {word}FALSE = {more} IS UNKNOWN",
        f"{some} = {more} <> {some} IS {word}DISTINCT FROM {more} = {some}",
        f"NOT {one} {sign} {other} IS {word}NULL",
        f"{one} % 7 + {other} % 5 * 2 {word}BETWEEN -{one} % 3 AND {other} % 9 AND {some} OR {more} IS NULL",
        f"{one} {word}IN ({other}, 3) = {some} OR NOT {some} AND {more}",
    )
    return f"({make.dice.choice(forms)})"


def _in(make: Expressions, kind: str, depth: int) -> str:
    own = make.dice.choice(["number", "text", "date", "decimal", "double"])
    items = ", ".join(make.of(own, 0) for _ in range(make.dice.randint(1, 3)))
    return f"({make.of(own, depth)} {make.dice.choice(['IN', 'NOT IN'])} ({items}))"


def _between(make: Expressions, kind: str, depth: int) -> str:
    own = make.dice.choice(["number", "text", "time", "decimal", "double"])
    return f"({make.of(own, depth)} BETWEEN {make.of(own, 0)} AND {make.of(own, 0)})"


def _try_cast(target: str, kinds: str) -> Maker:
    """TRY_CAST, and sometimes CAST: not of constants, which Spark would fail where no row is there to fail."""

    def make(source: Expressions, kind: str, depth: int) -> str:
        own = source.dice.choice([one for one in kinds.split() if source.has(one)])
        value = source.of(own, depth)
        constant = not any(name in value for name, _ in source.columns)
        return f"{'TRY_CAST' if constant or source.dice.random() < 0.8 else 'CAST'}({value} AS {target})"

    return make


def _small(make: Expressions, kind: str, depth: int) -> str:
    """Arithmetic that cannot overflow, so that most rows have an answer."""
    one, other = (f"CAST({make.of('number', depth)} % 1000 AS BIGINT)" for _ in range(2))
    return f"({one} {make.dice.choice('+-*')} {other})"


_NUMBERS = (
    _small,
    _small,
    _form("({number} % 7)"),
    _form("ABS({number} % 100)"),
    _form("CHAR_LENGTH({text})"),
    _form("POSITION({text} IN {text})"),
    _form("(- ({number} % 99))"),
    _form("CARDINALITY({ints})"),
    _form("CARDINALITY({texts})"),
    _form("GREATEST({number}, {number})"),
    _form("LEAST({number}, {number})"),
    _form("EXTRACT(YEAR FROM {time})"),
    _form("EXTRACT(HOUR FROM {time})"),
    _form("EXTRACT(MONTH FROM {date})"),
    _form("DAYOFWEEK({date})"),
    _form("WEEK({date})"),
    _form("DAYOFYEAR({date})"),
    _form("QUARTER({time})"),
    _form("SECOND({time})"),
    _form("DATEDIFF({date}, {date})"),
    _form("TIMESTAMPDIFF(DAY, {time}, {time})"),
    _form("TIMESTAMPDIFF(SECOND, {time}, {time})"),
    _form("TIMESTAMPDIFF(MONTH, {time}, {time})"),
    _try_cast("INT", "text double decimal number bool"),
    _try_cast("BIGINT", "text double decimal number instant"),
    _try_cast("TINYINT", "text number double"),
    _form("FLOOR({double})"),
    _form("CEIL({decimal})"),
    _form("SIGN({number})"),
    _form("UNIX_MILLIS({instant})"),
    _form("OCTET_LENGTH({text})"),
    _form("ASCII({text})"),
    _form("ARRAY_POSITION({ints}, {number})"),
    _form("BIT_COUNT({number})"),
    _form("(({number} % 50) / 3)"),
    _form("PMOD({number}, 7)"),
    _form("{ints}[1]"),
    _form("ELEMENT_AT({ints}, 2)"),
    _form("CRC32({bytes})"),
    _form("BITXOR({number}, {number})"),
    _form("REGEXP_COUNT({text}, '[a-z]')"),
    _form("ROUND({number}, -1)"),
    _form("SHIFTLEFT(({number} % 9), 2)"),
)
_TEXTS = (
    _form("UPPER({text})"),
    _form("LOWER({text})"),
    _form("TRIM({text})"),
    _form("SUBSTRING({text}, 2, 2)"),
    _form("({text} || {text})"),
    _form("SUBSTRING({text}, CAST(({number} % 5) AS INT))"),
    _form("REPLACE({text}, 'a', {text})"),
    _form("CONCAT_WS('-', {text}, {text})"),
    _form("LPAD({text}, 4, '*')"),
    _form("REVERSE({text})"),
    _form("CAST({number} AS STRING)"),
    _form("CAST({decimal} AS STRING)"),
    _form("CAST({double} AS STRING)"),
    _form("CAST({bool} AS STRING)"),
    _form("CAST({date} AS STRING)"),
    _form("CAST({time} AS STRING)"),
    _form("CAST({instant} AS STRING)"),
    _form("REGEXP_REPLACE({text}, '[aeiou]+', '<$0>')"),
    _form("REGEXP_EXTRACT({text}, '([a-z]+)', 1)"),
    _form("INITCAP({text})"),
    _form("SPLIT_PART({text}, ',', 1)"),
    _form("LEFT({text}, 2)"),
    _form("RIGHT({text}, 2)"),
    _form("DATE_FORMAT({time}, 'yyyy-MM-dd HH:mm:ss')"),
    _form("MD5({bytes})"),
    _form("HEX({number})"),
    _form("ARRAY_JOIN({texts}, '+')"),
    _form("{texts}[1]"),
    _form("TRANSLATE({text}, 'ab', 'x')"),
    _form("OVERLAY({text} PLACING '#' FROM 2)"),
    _form("REPEAT({text}, 2)"),
    _form("SPLIT_INDEX({text}, 'a', 0)"),
    _form("GREATEST({text}, {text})"),
    _form("DAYNAME({date})"),
    _form("RTRIM({text})"),
    _form("TO_BASE64({bytes})"),
)
_BOOLS = (
    _compare,
    _compare,
    _compare,
    _null_test,
    _in,
    _between,
    _form("NOT {bool}"),
    _form("({bool} AND {bool})"),
    _form("({bool} OR {bool})"),
    _form("({bool} IS TRUE)"),
    _form("({bool} IS NOT FALSE)"),
    _form("({text} LIKE '%a%')"),
    _form("({text} NOT LIKE '_b%')"),
    _form("({text} LIKE 'a!_%' ESCAPE '!')"),
    _form("STARTSWITH({text}, {text})"),
    _form("ARRAY_CONTAINS({ints}, {number})"),
    _form("IS_NAN({double})"),
    _form("REGEXP({text}, '^[0-9]')"),
    _try_cast("BOOLEAN", "text number"),
    _form("({text} ILIKE 'A%')"),
    _form("({bool} = {bool})"),
    _form("({number} = {double})"),
    _form("({decimal} < {number})"),
    _form("({date} <= {time})"),
    _unparenthesized,
    _unparenthesized,
)
MAKERS: dict[str, tuple[Maker, ...]] = {
    "number": _NUMBERS,
    "text": _TEXTS,
    "bool": _BOOLS,
    "decimal": (
        _form("(TRY_CAST({decimal} AS DECIMAL(10, 2)) + 1.5)"),
        _form("(TRY_CAST({decimal} AS DECIMAL(9, 3)) * 2.25)"),
        _form("ROUND({decimal}, 1)"),
        _form("ABS({decimal})"),
        _try_cast("DECIMAL(12, 3)", "text double number decimal"),
        _try_cast("DECIMAL(38, 18)", "text double number decimal"),
        _form("(- {decimal})"),
        _form("(TRY_CAST({decimal} AS DECIMAL(10, 2)) / 3)"),
        _form("({decimal} % 1.5)"),
        _form("({decimal} + {number})"),
        _form("({decimal} - {decimal})"),
    ),
    "double": (
        _form("({double} + {double})"),
        _form("({double} * {number})"),
        _form("(- {double})"),
        _form("ABS({double})"),
        _form("ROUND({double}, 2)"),
        _form("SQRT({double})"),
        _form("({double} / 3)"),
        _try_cast("DOUBLE", "text number decimal bool"),
        _try_cast("FLOAT", "text number double"),
        _form("GREATEST({double}, {double})"),
        _form("NANVL({double}, {double})"),
        _form("({decimal} * {double})"),
        _form("LN({double})"),
        _form("POWER({double}, 2)"),
        _form("({double} - {decimal})"),
    ),
    "date": (
        _try_cast("DATE", "text time instant"),
        _form("DATE_ADD({date}, CAST({number} % 999 AS INT))"),
        _form("LAST_DAY({date})"),
        _form("ADD_MONTHS({date}, CAST({number} % 13 AS INT))"),
        _form("({date} + INTERVAL '1' MONTH)"),
        _form("({date} - INTERVAL '3' DAY)"),
        _form("FLOOR({date} TO MONTH)"),
    ),
    "time": (
        _try_cast("TIMESTAMP", "text date instant"),
        _form("({time} + INTERVAL '1' SECOND)"),
        _form("({time} - INTERVAL '1:30' HOUR TO MINUTE)"),
        _form("({time} + INTERVAL '1-1' YEAR TO MONTH)"),
        _form("FLOOR({time} TO DAY)"),
        _form("FLOOR({time} TO WEEK)"),
        _form("DATE_TRUNC('HOUR', {time})"),
        _form("TIMESTAMPADD(MINUTE, ({number} % 99), {time})"),
        _form("DATE_TRUNC('QUARTER', {time})"),
    ),
    "instant": (
        _try_cast("TIMESTAMP_LTZ", "text date time"),
        _form("({instant} + INTERVAL '1' DAY)"),
        _form("TO_TIMESTAMP_LTZ(({number} % 99999), 3)"),
    ),
    "bytes": (_form("CAST({text} AS BYTES)"), _form("ENCODE({text})"), _form("UNHEX({text})")),
    "ints": (
        _form("ARRAY[({number} % 9), 1]"),
        _form("ARRAY_DISTINCT({ints})"),
        _form("ARRAY_SORT({ints})"),
        _form("SLICE({ints}, 1, 2)"),
    ),
    "texts": (
        _form("ARRAY[{text}, {text}]"),
        _form("SPLIT({text}, ',')"),
        _form("ARRAY_SORT({texts})"),
        _form("ARRAY_CONCAT({texts}, {texts})"),
    ),
    "row": (),
    "rows": (),
}
