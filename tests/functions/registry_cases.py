"""Cases for the differential test: every signature that every registry entry takes, and a table of edge and random values."""

from __future__ import annotations

import random
import struct
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from decimal import Context, Decimal
from itertools import product

import polars as pl

from ouzel.compiler.coercion import can_cast
from ouzel.compiler.expressions import Call, Cast, Column, Expression, Literal
from ouzel.compiler.expressions import Case as CaseWhen
from ouzel.compiler.functions import Function, all_functions
from ouzel.compiler.functions.resolution import resolve_call
from ouzel.compiler.types import (
    BIGINT,
    BOOLEAN,
    BYTES,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    INTERVAL,
    INTERVAL_MONTHS,
    SMALLINT,
    TIMESTAMP,
    TIMESTAMP_LTZ,
    TINYINT,
    VARCHAR,
    ArrayType,
    DataType,
    DecimalType,
    IntegerType,
    MapType,
    RowType,
    to_polars,
)  # fmt: skip
from ouzel.errors import QueryError

ROWS = 160
WIDE = 5
"""Columns of each type: a call with more arguments of one type is not tried."""

SIGNATURES_MAX = 24
TEXT_BYTES = 1
"""The column of BYTES that are UTF-8: what others become as text, Spark can hold but not send."""

_MAKERS = {"repeat": 40, "space": 40, "lpad": 40, "rpad": 40, "sequence": 40, "from_unixtime": 4 * 10**9}

_WITH_LITERALS = ("add", "subtract", "multiply", "divide", "modulo")
"""Entries whose kernel looks at a literal."""

NAN, INF = float("nan"), float("inf")
DAY = 86_400_000_000
_TEXTS = [
    "", " ", "a", "abc", "ABC", "Hello World", "  padded  ", "été", "日本語", "naïve café", "😀 smile", "a,b,,c", ",",
    "a%b_c", "100%", "x\ty",
    "line\nbreak", "12", "-7", " 42 ", "1.5", "-0.0", "1e3", "99999999999999999999", "NaN", "Infinity", "-inf", "true",
    "FALSE", "y", "2020-02-29",
    "2021-02-29", "2020-1-5", "2020", "2020-12-31 23:59:59", "2020-12-31T23:59:59.123456", "2020-06-15 12:30:00+02:00",
    "1969-12-31 23:59:59.5",
    "2020-02-30", "0001-01-01", "9999-12-31", "ab", "ABAB", "foo", "foo\n", "10-20", "bw1 bwx", "o", "ß", "aXbXc",
    "48656C6C6F", "4G", "+5", "1_000",
    '{"a": 1}', '{"a": "x", "b": [1.0, {"c": null}]}', '{"c d": true, "b": ["é"]}', "not json", '{"a": {"b": "deep"}}', "31/12/2020",
]  # fmt: skip
_STAMPS = [
    0, 1, -1, 999_999, -1_000_000, 1_582_934_400_000_000, 1_583_020_799_999_999, 1_580_428_800_000_000,
    951_782_400_000_000, -62_135_596_800_000_000,
    253_402_300_799_999_999, 1_609_459_199_999_999, 1_609_459_200_000_000, -DAY, -DAY - 1, 1_234_567_890_123_456, 1_601_510_400_000_000,
]  # fmt: skip
EDGES: dict[DataType, list[object]] = {
    BOOLEAN: [True, False],
    TINYINT: [0, 1, -1, 127, -128, 7, 2], SMALLINT: [0, 1, -1, 32767, -32768, 300],
    INT: [0, 1, -1, 2, 3, -2, 5, 10, 2**31 - 1, -(2**31), 2020, 12, 31, 256, 64],
    BIGINT: [0, 1, -1, 2, -3, 2**63 - 1, -(2**63), 2**31, 2**53 + 1, 4_294_967_296, 1_600_000_000, 65, 233],
    FLOAT: [0.0, -0.0, 1.0, -1.5, 2.5, 0.1, 3.4028234663852886e38, 1.401298464324817e-45, NAN, INF, -INF, 16777216.0, 1e10, 1e-5],
    DOUBLE: [0.0, -0.0, 1.0, -1.0, 0.5, 2.5, -2.5, 0.1, 2.675, 1.005, 1e-5, 1.7976931348623157e308, 5e-324, 9.007199254740993e15,
             9.3e18, -9.3e18, NAN, INF, -INF, 1e7, 123456789.125, 0.001],
    VARCHAR: list(_TEXTS), BYTES: [t.encode() for t in _TEXTS[:16]] + [b"\x00\xff", b"\x80"],
    DATE: [0, 1, -1, 18321, 18322, 11016, -719162, 2932896, 18627, 18262, 19782],
    TIMESTAMP: list(_STAMPS), TIMESTAMP_LTZ: list(_STAMPS),
    INTERVAL: [0, 1, -1, 1_000_000, -DAY, 3 * DAY, 90_061_000_001, 2**62, -(2**62)],
    DecimalType(5, 2): [Decimal(t) for t in ("0.00", "1.25", "-1.35", "999.99", "-999.99", "0.01", "2.50", "-0.50", "12.00")],
    DecimalType(20, 6): [Decimal(t) for t in ("0.000000", "1.500000", "-1.000001", "99999999999999.999999", "0.000001", "-7.250000")],
    DecimalType(38, 10): [Decimal(t) for t in ("0.0000000000", "9999999999999999999999999999.9999999999", "-1.5000000000", "0.0000000001",
                                               "3.0000000000")],
    ArrayType(INT): [[], [1], [1, 2, 3], [3, None, 1, 3], [None], [-1, 2**31 - 1]],
    ArrayType(VARCHAR): [[], ["a"], ["b", None, "a", "b"], ["", "é"], [None]],
    ArrayType(DOUBLE): [[], [1.5, NAN, None], [-0.5, 2.5, 2.5], [INF, -INF]],
    MapType(VARCHAR, INT): [[], [{"key": "a", "value": 1}], [{"key": "", "value": None}, {"key": "abc", "value": 7}]],
    RowType((("x", INT), ("y", VARCHAR))): [{"x": 1, "y": "a"}, {"x": None, "y": ""}, {"x": 1, "y": None}],
}  # fmt: skip
TYPES = tuple(EDGES)
_SOME = (
    BOOLEAN,
    INT,
    BIGINT,
    DOUBLE,
    VARCHAR,
    DATE,
    TIMESTAMP,
    TIMESTAMP_LTZ,
    DecimalType(5, 2),
    ArrayType(VARCHAR),
    ArrayType(INT),
)
LITERALS: dict[DataType, tuple[object, ...]] = {
    INTERVAL: (timedelta(days=3), timedelta(days=-40), timedelta(seconds=5)), INTERVAL_MONTHS: (1, -14, 0), INT: (0, 1, -1, 3, 7),
    BIGINT: (0, 2, -1, 10), DOUBLE: (0.0, 2.5), VARCHAR: ("", "a", " ", "b"), DecimalType(5, 2): (Decimal("2.50"), Decimal("0.00")),
    TINYINT: (3, -1), SMALLINT: (3,), FLOAT: (0.5,), BOOLEAN: (True, False),
}  # fmt: skip


@dataclass(frozen=True)
class Case:
    """One expression to compare, and the entry it tests."""

    name: str
    expression: Expression


def draw(kind: DataType, dice: random.Random) -> object:
    """A value of `kind`: mostly an edge, sometimes random, sometimes NULL."""
    chance = dice.random()
    if chance < 0.08:
        return None
    if chance < 0.7 or kind not in _RANDOM:
        return dice.choice(EDGES[kind])
    return _RANDOM[kind](dice)


def _double(dice: random.Random) -> float:
    return dice.choice(
        [
            dice.uniform(-5, 5),
            dice.gauss(0, 1e6),
            struct.unpack("d", dice.randbytes(8))[0],
            round(dice.uniform(-50, 50), 3),
        ]
    )


def _text(dice: random.Random) -> str:
    return "".join(dice.choice("ab AB,é%_-19😀x日") for _ in range(dice.randrange(9)))


def _decimal(unscaled: int, scale: int) -> Decimal:
    return Decimal(unscaled).scaleb(-scale, Context(prec=60))


_RANDOM: dict[DataType, Callable[[random.Random], object]] = {
    TINYINT: lambda d: d.randrange(-128, 128), SMALLINT: lambda d: d.randrange(-(2**15), 2**15),
    INT: lambda d: d.choice([d.randrange(-20, 20), d.randrange(-(2**31), 2**31)]),
    BIGINT: lambda d: d.choice([d.randrange(-20, 20), d.randrange(-(2**63), 2**63), d.randrange(-(2**34), 2**34)]),
    DOUBLE: _double, FLOAT: lambda d: d.choice([round(d.uniform(-50, 50), 2), d.gauss(0, 1e6)]), VARCHAR: _text,
    BYTES: lambda d: d.randbytes(d.randrange(6)), DATE: lambda d: d.randrange(-30000, 60000),
    TIMESTAMP: lambda d: d.randrange(-2 * 10**15, 4 * 10**15), TIMESTAMP_LTZ: lambda d: d.randrange(-2 * 10**15, 4 * 10**15),
    INTERVAL: lambda d: d.randrange(-(10**13), 10**13), DecimalType(5, 2): lambda d: _decimal(d.randrange(-99999, 99999), 2),
    DecimalType(20, 6): lambda d: _decimal(d.randrange(-(10**20) + 1, 10**20), 6),
    DecimalType(38, 10): lambda d: _decimal(d.choice([d.randrange(-(10**15), 10**15), d.randrange(-(10**38) + 1, 10**38)]), 10),
    ArrayType(INT): lambda d: [d.choice([None, 1, 2, d.randrange(99)]) for _ in range(d.randrange(5))],
}  # fmt: skip


def column(kind: DataType, number: int) -> Column:
    """The table's column of a type, by number."""
    return Column(kind, f"c{TYPES.index(kind)}_{number}")


def table(seed: int) -> pl.DataFrame:
    """Columns `c<type>_<number>` for every type, drawn at random."""
    dice = random.Random(seed)
    series = []
    for kind in TYPES:
        for number in range(WIDE):
            values = [draw(kind, dice) for _ in range(ROWS)]
            if kind == BYTES and number == TEXT_BYTES:
                values = [dice.choice(_TEXTS).encode() for _ in range(ROWS)]
            polars_type = to_polars(kind)
            storage = (pl.Int32() if kind == DATE else pl.Int64()) if polars_type.is_temporal() else polars_type
            with_name = pl.Series(column(kind, number).name, values, dtype=storage, strict=False)
            series.append(with_name.cast(polars_type) if storage != polars_type else with_name)
    return pl.DataFrame(series)


def signatures(function: Function) -> list[tuple[DataType, ...]]:
    """The tuples of types that the entry takes as they are; a sample of them if it takes nearly any."""
    found = list(_all_signatures(function))
    return found if len(found) <= SIGNATURES_MAX else random.Random(1).sample(found, SIGNATURES_MAX)


def _all_signatures(function: Function) -> Iterator[tuple[DataType, ...]]:
    kinds = (*TYPES, INTERVAL_MONTHS)
    pools = [
        ((),),
        *(product(kinds, repeat=n) for n in (1, 2)),
        product(_SOME, repeat=3),
        product((INT, VARCHAR), repeat=4),
    ]
    for types in (types for pool in pools for types in pool):
        found = function.resolve(types)
        if found is not None and found.parameters == types and not _nests_a_map(found.result):
            yield types


def _nests_a_map(kind: DataType) -> bool:
    """Whether it holds a map below its surface: how Polars reads those from Arrow cannot be compared."""
    match kind:
        case ArrayType(inner) | MapType(_, inner):
            return "MAP<" in str(inner)
    return isinstance(kind, RowType) and "MAP<" in str(kind)


def calls(function: Function, types: Sequence[DataType]) -> Iterator[Expression]:
    """Calls of the entry on columns; with its example literals where it wants literals; and with one literal among columns."""
    examples = dict(function.examples)
    choices: list[list[Expression]] = []
    for number, kind in enumerate(types):
        if number in examples and any(_is_of(value, kind) for value in examples[number]):
            choices.append([Literal(kind, value) for value in examples[number] if _is_of(value, kind)])
        elif kind == INTERVAL_MONTHS:
            choices.append([Literal(kind, value) for value in LITERALS[kind]])
        else:
            choices.append([_operand(function, kind, number)])
    rows = [tuple(row) for row in product(*choices)]
    for number, kind in enumerate(types):
        if not function.examples and kind in LITERALS and len(types) > 1:
            values = LITERALS[kind] if function.name in _WITH_LITERALS else LITERALS[kind][:1]
            rows += [(*rows[0][:number], Literal(kind, value), *rows[0][number + 1 :]) for value in values]
    for row in rows:
        try:
            yield resolve_call(function.name, row)
        except QueryError:
            continue  # refused at plan time, as it may be; that every signature keeps a call is asserted


def _operand(function: Function, kind: DataType, number: int) -> Expression:
    """A column; a small number where the number says how much the call makes."""
    if function.name in _MAKERS and isinstance(kind, IntegerType):
        return Cast(kind, resolve_call("modulo", [column(kind, number), Literal(BIGINT, _MAKERS[function.name])]))
    return column(kind, number)


def _is_of(value: object, kind: DataType) -> bool:
    return (
        isinstance(value, str)
        if kind == VARCHAR
        else isinstance(value, int)
        if isinstance(kind, IntegerType)
        else False
    )


def function_cases() -> list[Case]:
    """Every call of every entry."""
    return [
        Case(function.name, call)
        for function in all_functions()
        for types in signatures(function)
        for call in calls(function, types)
        if isinstance(call, Call)
    ]


def cast_cases() -> list[Case]:
    """CAST and TRY_CAST of every pair of types that allows it."""
    extra = (
        DecimalType(10, 0),
        DecimalType(4, 3),
        ArrayType(BIGINT),
        RowType((("p", BIGINT), ("q", VARCHAR))),
        MapType(VARCHAR, VARCHAR),
    )
    return [
        Case("try_cast" if safe else "cast", Cast(target, column(source, TEXT_BYTES if source == BYTES else 0), safe))
        for source in TYPES
        for target in (*TYPES, *extra)
        if source != target and can_cast(source, target)
        for safe in (False, True)
    ]


def composite_cases() -> list[Case]:
    """Calls in calls: what one argument's error or NULL does to the rest, and literals that a lowering takes apart."""
    a, b, n, x = column(INT, 0), column(INT, 1), column(BIGINT, 2), column(DOUBLE, 0)
    s, t, d, m = column(VARCHAR, 0), column(TIMESTAMP, 0), column(DATE, 0), column(DecimalType(5, 2), 0)
    zero, one, call = Literal(INT, 0), Literal(INT, 1), resolve_call
    quotient, number = call("divide", [a, b]), Cast(INT, s)
    expressions = [
        call("add", [n, quotient]), call("add", [quotient, n]), call("coalesce", [n, quotient]), call("coalesce", [quotient, n]),
        call("if", [call("eq", [b, zero]), Literal(BIGINT, None), quotient]),
        call("and", [call("ne", [b, zero]), call("gt", [quotient, one])]),
        call("or", [call("gt", [quotient, one]), call("is_null", [n])]), call("and", [call("gt", [n, zero]),
        call("gt", [quotient, one])]),
        call("in", [a, one, number]), call("in", [a, number, one]),
        call("between", [n, quotient, number]), call("nullif", [n, quotient]),
        call("greatest", [n, quotient]), call("concat", [s, Cast(VARCHAR, quotient)]), call("concat_ws", [s, s, Cast(VARCHAR, quotient)]),
        call("is_null", [quotient]), call("is_not_distinct_from", [n, quotient]), Cast(BIGINT, call("multiply", [m, m])),
        call("round", [call("divide", [x, Literal(DOUBLE, 3.0)]), Literal(INT, 2)]), call("abs", [call("negate", [a])]),
        call("replace", [s, Literal(VARCHAR, "a"), Literal(VARCHAR, "$0")]),
        call("replace", [s, Literal(VARCHAR, "."), Literal(VARCHAR, "")]),
        call("upper", [call("trim", [s])]), call("substring", [call("upper", [s]), Literal(INT, -3), Literal(INT, 2)]),
        call("date_trunc", [Literal(VARCHAR, "month"), call("add", [t, Literal(INTERVAL_MONTHS, 1)])]), call("add_months", [d, one]),
        call("timestampdiff", [Literal(VARCHAR, "day"), t, call("add", [t, Literal(INTERVAL, timedelta(days=400))])]),
        call("subtract", [t, Literal(INTERVAL, timedelta(seconds=5))]),
        call("element_at", [call("split", [s, Literal(VARCHAR, ",")]), one]),
        call("multiply", [call("add", [a, b]), call("subtract", [a, b])]), call("modulo", [call("add", [n, one]), Literal(BIGINT, 7)]),
        CaseWhen(INT, ((call("gt", [quotient, one]), number),), zero), call("element_at", [call("array", [a, b]), number]),
    ]  # fmt: skip
    return [Case("composite", expression) for expression in expressions]
