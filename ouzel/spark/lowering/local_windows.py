"""Windows of whole days by the clock of a time zone, in Spark, which has none: by the midnight before a row's time, taken to UTC."""

from __future__ import annotations

from ouzel.compiler.functions.local_days import DAY_US
from ouzel.compiler.functions.spark import column_name
from ouzel.compiler.plan import AssignWindow, WindowKind
from ouzel.compiler.types import TIMESTAMP_LTZ
from ouzel.spark.lowering.text import comment, quote, select, spark_span

SPAN, BACK = "$span", "$back"
"""Columns that exist between two steps of one statement: when a row's span of days begins by the clock, and how many spans back to go."""


def lower_local_window(node: AssignWindow) -> list[str]:
    """The rows with their windows; a row without time is in none.

    A row's span is that of the date that clocks show; or the next one, for where clocks go back over midnight, the second time that they
    show the end of a day belongs to the next; or the one before, where they go forward over the begin of a span.
    """
    is_local, is_hop = node.input.schema[node.column].type == TIMESTAMP_LTZ, node.kind is WindowKind.HOP
    time = f"F.col({quote(column_name(node.column))})" + '.cast("timestamp_ntz")' * is_local
    span, step, size = f"F.col({quote(SPAN)})", _days(node.slide_us), _days(node.size_us)
    begin = f"{span} - F.col({quote(BACK)}) * {step}" if is_hop else span
    columns = [_in_utc(node, begin), _in_utc(node, f"{begin} + {size}")]
    columns.append(f"({columns[1]} - F.expr(\"INTERVAL '0.001' SECOND\"))" + '.cast("timestamp")' * is_local)
    every = f", one every {spark_span(node.slide_us)}" if is_hop else ""
    mark = f"{node.kind.value}: windows of {spark_span(node.size_us)} by the clock of {node.zone}{every}"
    backs = select(
        ['"*"', f"F.explode(F.sequence(F.lit(0), F.lit({node.size_us // node.slide_us - 1}))).alias({quote(BACK)})"]
    )
    return [
        comment(f"{mark}; a row without {node.column} is in none"),
        f".withColumn({quote(SPAN)}, {_clock_span(node, time)})",
        f".withColumn({quote(SPAN)}, {_correct(node, time)})",
        *([backs] if is_hop else []),
        select(
            [
                *(quote(column_name(field)) for field in node.input.schema.names),
                *(f"{value}.alias({quote(name)})" for name, value in zip(node.names, columns, strict=True) if name),
            ]
        ),
    ]


def _clock_span(node: AssignWindow, time: str) -> str:
    """When the span begins whose date clocks show, as they show it."""
    spans = [node.slide_us, *([node.slide_us, node.offset_us] if node.offset_us else [])]
    arguments = [
        f'F.convert_timezone(F.lit("UTC"), F.lit({quote(node.zone)}), {time})',
        *(quote(spark_span(each)) for each in spans),
    ]
    return f"F.window({', '.join(arguments)}).start"


def _correct(node: AssignWindow, time: str) -> str:
    span, step = f"F.col({quote(SPAN)})", _days(node.slide_us)
    after, before = f"{span} + {step}", f"{span} - {step}"
    return f"F.when({time} >= {_in_utc(node, after)}, {after}).when({time} < {_in_utc(node, span)}, {before}).otherwise({span})"


def _in_utc(node: AssignWindow, local: str) -> str:
    return f'F.convert_timezone(F.lit({quote(node.zone)}), F.lit("UTC"), {local})'


def _days(length_us: int) -> str:
    return f"F.expr(\"INTERVAL '{length_us // DAY_US}' DAY\")"
