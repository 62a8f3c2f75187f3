"""Whole numbers, constants and DECIMALs together have Spark's types and values, as SQL and as the job writes them."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

import polars as pl
import pytest

from ouzel.compiler.expressions import Call, Column, Expression, walk_expression
from ouzel.compiler.functions.spark import to_spark
from ouzel.compiler.functions.spark_types import to_spark_type
from ouzel.compiler.plan import Project
from ouzel.compiler.sql import compile_sql
from ouzel.compiler.types import (
    BIGINT,
    BOOLEAN,
    DOUBLE,
    INT,
    SMALLINT,
    TINYINT,
    DataType,
    DecimalType,
    IntegerType,
    to_polars,
)
from ouzel.errors import QueryError
from ouzel.runtime.operators.rowwise.rows import Projection
from ouzel.session import connector_traits
from tests.effort import examples
from tests.functions.test_differential import ELIMINATION, tried
from tests.operators import nodes

pytestmark = pytest.mark.spark

DECIMALS = {
    "m": DecimalType(10, 2),
    "e": DecimalType(38, 18),
    "g": DecimalType(38, 30),
    "h": DecimalType(5, 5),
    "j": DecimalType(20, 0),
}
COLUMNS: dict[str, DataType] = {
    **DECIMALS,
    "t": TINYINT,
    "s": SMALLINT,
    "i": INT,
    "b": BIGINT,
    "x": DOUBLE,
    "c": BOOLEAN,
}
TABLE = f"CREATE TABLE t ({', '.join(f'{name} {kind}' for name, kind in COLUMNS.items())}) "
CONNECTOR = "WITH ('connector' = 'file', 'path' = 't.jsonl', 'format' = 'json');\n"
ROWS, EXAMPLES, KEY = 40, 120, "c0_0"
TEN_37 = f"1{'0' * 37}"
CONSTANTS = (
    "0", "1", "3", "-3", "7", "10", "100", "-128", "32768", "2147483647", "2147483648", "-2147483648", "9223372036854775807",
    "30000000000000000000", TEN_37, "0.0", "3.0", "0.001", "-0.5", ".5", "1.", "2.50", "99999999.99", "0.000000000000000001", "(3)", "-(3)",
    "CAST(3 AS BIGINT)", "CAST(3 AS TINYINT)", "CAST(2 AS DECIMAL(38,20))", "1e0", "NULL",
)  # fmt: skip
FORMS = (
    "{} + {}", "{} - {}", "{} * {}", "{} / {}", "{} % {}", "MOD({}, {})", "COALESCE({}, {})", "IFNULL({}, {})", "NULLIF({}, {})",
    "IF(c, {}, {})", "CASE WHEN c THEN {} ELSE {} END", "LEAST({}, {})", "GREATEST({}, {})", "{} = {}", "{} <> {}", "{} < {}", "{} >= {}",
    "{} IS DISTINCT FROM {}", "{} IS NOT DISTINCT FROM {}", "{} BETWEEN {} AND {}", "{} IN ({}, {})", "CASE {} WHEN {} THEN 1 ELSE 2 END",
    "NVL2(i, {}, {})", "ABS({})", "-({})", "ROUND({}, 1)", "CEIL({})", "CAST({} AS DECIMAL(12,3))", "CAST({} AS BIGINT)",
)  # fmt: skip
FIXED = (
    "m * 3", "e * 3", "3 * e", "m / 3", "3 / m", "m % 3", "m * -3", "m * (3)", "m * -(3)", "m * (1 + 2)", "m * 3000000000", f"t * {TEN_37}",
    f"j * {TEN_37}",
    "m * CAST(3 AS BIGINT)", "m * 0.001", "g = 3", "g + 3", "g BETWEEN 3 AND 30000000000000000000", "g IN (3)", "g IN (3, 4)",
    "CASE g WHEN 3 THEN 1 END",
    "NULLIF(m, 3)", "NULLIF(i, 2.5)", "NULLIF(3, m)", "COALESCE(g, 0)", "b BETWEEN 9007199254740993 AND 1e19", "g IS DISTINCT FROM 3",
    "t * 2.5", "3 * 2.5", "i / 2.5", "-3 * m", "e / e", "j * j", "h / 3", "x % 3", "CEIL(j)", "FLOOR(j)", "CEIL(m)",
    "(t % 0.0) / g", "(m / 0) % g", "(x / 0e0) / x", "(x % 0e0) % x", "(i DIV 0) DIV s", "(i % 0) % s", "PMOD(i DIV 0, b)",
)  # fmt: skip


def expression_of(dice: Random, depth: int) -> str:
    """A random one that mixes columns and constants."""
    if depth == 0 or dice.random() < 0.2:
        return dice.choice(list(COLUMNS)[:-1]) if dice.random() < 0.6 else dice.choice(CONSTANTS)
    form = dice.choice(FORMS)
    return f"({form})".format(*(expression_of(dice, depth - 1) for _ in range(form.count("{}"))))


def bound(text: str) -> Expression | None:
    """The expression as Ouzel reads it; None if it is refused, or has a division of whole numbers, which is another one in Spark's SQL."""
    try:
        node = compile_sql(f"{TABLE}{CONNECTOR}SELECT {text} AS v FROM t;", connector_traits(Path())).sinks[-1].input
    except QueryError:
        return None
    assert isinstance(node, Project)
    value = node.items[0][1]
    divided = [
        part.arguments[0].type
        for part in walk_expression(value)
        if isinstance(part, Call) and part.function == "divide"
    ]
    return None if any(isinstance(kind, IntegerType) for kind in divided) else value


def values_of(dice: Random, kind: DataType) -> list[object]:
    """Edge values and others."""
    match kind:
        case DecimalType(precision, scale):
            most = 10**precision
            numbers = [
                0,
                1,
                -1,
                most - 1,
                1 - most,
                3 * 10**scale % most,
                3 * 10**scale % most + 1,
                10**scale % most,
                -(10**scale % most) // 2,
            ]
            numbers += [dice.randrange(-most, most) // 10 ** dice.randrange(precision) for _ in range(ROWS)]
            return [Decimal(number).scaleb(-scale) for number in numbers[:ROWS]]
        case IntegerType(bits):
            top = 1 << (bits - 1)
            numbers = [
                0,
                1,
                -1,
                3,
                top - 1,
                -top,
                min(top - 1, 2**53 + 1),
                *(dice.randrange(-top, top) for _ in range(ROWS)),
            ]
            return list(numbers[:ROWS])
    if kind == BOOLEAN:
        return [dice.random() < 0.5 for _ in range(ROWS)]
    return [dice.choice([0.0, -0.0, 1.5, 3.0, -2.5, 2.0**53, 1e19]) for _ in range(ROWS)]


def rows() -> pl.DataFrame:
    """The table: each column in an order of its own, with NULLs."""
    dice = Random(5)
    columns = {}
    for name, kind in COLUMNS.items():
        values = values_of(dice, kind)
        dice.shuffle(values)
        given = [None if dice.random() < 0.08 else value for value in values]
        columns[name] = pl.Series(name, given, dtype=to_polars(kind))
    return pl.DataFrame({KEY: pl.Series(range(ROWS), dtype=pl.Int32), **columns})


@pytest.fixture(scope="module")
def uncommon(spark: Any) -> Iterator[Any]:
    """Spark without what would compute parts outside of try."""
    spark.conf.set(ELIMINATION, "false")
    yield spark
    spark.conf.unset(ELIMINATION)


def test_types_and_values_are_those_of_spark(uncommon: Any) -> None:
    dice = Random(11)
    texts = dict.fromkeys([*FIXED, *(expression_of(dice, 2) for _ in range(examples(EXAMPLES)))])
    cases = {text: value for text in texts if (value := bound(text)) is not None}
    assert set(FIXED) <= set(cases)
    frame = rows()
    table = uncommon.createDataFrame(frame.to_arrow(compat_level=pl.CompatLevel.oldest())).coalesce(1)
    problems = []
    for form in (as_sql, as_job):
        columns = [form(text, value) for text, value in cases.items()]
        kinds = [field.dataType.simpleString() for field in table.select(*columns).schema]
        answer = pl.DataFrame(
            pl.from_arrow(
                table.select(*(tried(uncommon, column).alias(str(n)) for n, column in enumerate(columns))).toArrow()
            )
        )
        for (text, value), kind, answered in zip(cases.items(), kinds, answer.get_columns(), strict=True):
            if kind != to_spark_type(value.type).lower():
                problems.append(f"{form.__name__}: {text} is {value.type}, in Spark {kind}")
            elif problem := difference(frame, value, answered):
                problems.append(f"{form.__name__}: {text}: {problem}")
    assert not problems, f"{len(problems)} of {len(cases)}\n" + "\n".join(problems)


def as_sql(text: str, value: Expression) -> Any:
    """What Spark's SQL makes of it."""
    from pyspark.sql import functions as F

    return F.expr(text).alias("v")


def as_job(text: str, value: Expression) -> Any:
    """What the batch job has."""
    from pyspark.sql import functions as F

    return eval(to_spark(value), {"F": F}).alias("v")


def difference(frame: pl.DataFrame, value: Expression, expected: pl.Series) -> str:
    """Where the topology's values or failures are others than Spark's."""
    made = computed(frame, value)
    mine, fails = made["v"], made["fails"]
    wanted, spark_fails = expected.struct.field("v"), expected.is_null()
    same = mine.eq_missing(wanted.cast(mine.dtype))
    if mine.dtype.is_float():
        same |= ((mine - wanted).abs() <= wanted.abs() * 1e-12).fill_null(False)
    wrong = (fails != spark_fails) | (~fails & ~spark_fails & ~same)
    if not wrong.any():
        return ""
    shown = frame.with_columns(ours=mine, spark=wanted, fails=fails, spark_fails=spark_fails).filter(wrong)
    return f"{wrong.sum()} rows, {shown.row(0, named=True)}"


def computed(frame: pl.DataFrame, value: Expression) -> pl.DataFrame:
    """The value of each row, and of which there is none."""
    projection = Projection(Project(nodes.table(), ((KEY, Column(INT, KEY)), ("v", value))))
    made = projection.process(frame)
    assert made is not None
    joined = frame.select(KEY).join(made.with_columns(fails=False), on=KEY, how="left", maintain_order="left")
    return joined.with_columns(pl.col("fails").fill_null(True))
