"""Random queries: projections, filters, UNNEST, windows, aggregates, DISTINCT, HAVING, sub-queries, unions and EMIT, over random tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from ouzel.compiler.functions.aggregates import AGGREGATES, can_aggregate
from ouzel.compiler.types import (
    BIGINT,
    BOOLEAN,
    BYTES,
    DATE,
    DOUBLE,
    TIMESTAMP,
    TIMESTAMP_LTZ,
    VARCHAR,
    DataType,
    DecimalType,
)  # fmt: skip
from ouzel.session import load_text
from tests.fuzz.expressions import Expressions, kind_of
from tests.fuzz.tables import Table

TYPES: dict[str, DataType] = {
    "number": BIGINT, "text": VARCHAR, "bool": BOOLEAN, "decimal": DecimalType(10, 2), "double": DOUBLE, "date": DATE, "time": TIMESTAMP,
    "instant": TIMESTAMP_LTZ, "bytes": BYTES,
}  # fmt: skip
GROUPABLE = tuple(TYPES)
ELSEWHERE = {"histogram", "skewness", "kurtosis"}
"""A map, which is no column's kind here, and what shows the order in which floats were added."""
NAMES = {
    function.name.upper(): function
    for function in AGGREGATES
    if function.usage.endswith(("(value)", "(condition)")) and function.name not in ELSEWHERE
}
"""Aggregates of one value."""
SPANS = (
    "INTERVAL '10' SECOND",
    "INTERVAL '1' MINUTE",
    "INTERVAL '7' SECOND",
    "INTERVAL '1.5' SECOND",
    "INTERVAL '90' MINUTE",
    "INTERVAL '1' DAY",
    "INTERVAL '0.000013' SECOND",
)
HOPS = (
    ("INTERVAL '5' SECOND", "INTERVAL '20' SECOND"),
    ("INTERVAL '1' MINUTE", "INTERVAL '1' MINUTE"),
    ("INTERVAL '0.75' SECOND", "INTERVAL '3' SECOND"),
)


@dataclass(frozen=True)
class Relation:
    """What stands in FROM: its text, and what a query sees of it. `time` is the column to cut windows from."""

    text: str
    columns: tuple[tuple[str, str], ...]
    time: str | None = None
    windowed: bool = False


class Queries:
    """A source of queries over `tables`, whose statements are `prelude`."""

    def __init__(self, dice: Random, tables: Sequence[Table], prelude: str) -> None:
        self.dice, self.tables, self.prelude = dice, tables, prelude
        self._aliases = 0

    def query(self) -> str:
        """One whole query with, sometimes, an EMIT rule."""
        text, grouped = self._body(self.dice.choice([0, 0, 1, 1, 2]))
        emits = ("", "", " EMIT CHANGES", " EMIT AFTER DELAY INTERVAL '1' SECOND") if grouped else ("",)
        return text + self.dice.choice(emits)

    def _body(self, depth: int) -> tuple[str, bool]:
        """A SELECT, and whether it aggregates outside sub-queries."""
        chance = self.dice.random()
        if chance < 0.12:
            return self._union(depth), False
        relation = self._relation(depth)
        if chance < 0.45:
            return self._project(relation), False
        if chance < 0.52:
            return self._distinct(relation), True
        return self._group(relation), True

    def _relation(self, depth: int) -> Relation:
        if depth:
            body, _ = self._body(depth - 1)
            relation = Relation(f"({body}) AS {self._alias()}", self._columns(body))
        else:
            table = self.dice.choice(self.tables)
            seen = tuple((name, kind_of(kind)) for name, kind in table.columns)
            relation = (
                self._windowed(table, seen) if table.time and self.dice.random() < 0.5 else Relation(table.name, seen)
            )
        return self._unnested(relation) if self.dice.random() < 0.2 else relation

    def _alias(self) -> str:
        self._aliases += 1
        return f"q{self._aliases}"

    def _windowed(self, table: Table, seen: tuple[tuple[str, str], ...]) -> Relation:
        columns = (*seen, *((name, "time") for name in ("window_start", "window_end", "window_time")))
        if self.dice.random() < 0.6:
            shift = self.dice.choice(["", "", ", INTERVAL '3' SECOND"])
            call = f"TUMBLE(TABLE {table.name}, DESCRIPTOR(ts), {self.dice.choice(SPANS)}{shift})"
        else:
            slide, size = self.dice.choice(HOPS)
            call = f"HOP(TABLE {table.name}, DESCRIPTOR(ts), {slide}, {size})"
        return Relation(f"TABLE({call})", columns, table.time, windowed=True)

    def _unnested(self, relation: Relation) -> Relation:
        arrays = [(name, kind) for name, kind in relation.columns if kind in ("ints", "texts", "rows")]
        if not arrays:
            return relation
        name, kind = self.dice.choice(arrays)
        table = self._alias()
        ordinal = self.dice.random() < 0.4 and kind != "rows"
        names = [f"{table}x", f"{table}y"] if kind == "rows" else [f"{table}x"]
        kinds = ["number", "text"] if kind == "rows" else ["number" if kind == "ints" else "text"]
        if ordinal:
            names, kinds = [*names, f"{table}n"], [*kinds, "number"]
        unnest = f"UNNEST({name}){' WITH ORDINALITY' * ordinal} AS {table} ({', '.join(names)})"
        join = f"CROSS JOIN {unnest}" if self.dice.random() < 0.5 else f"LEFT JOIN {unnest} ON TRUE"
        columns = (*relation.columns, *zip(names, kinds, strict=True))
        return Relation(f"{relation.text} {join}", columns, relation.time, relation.windowed)

    def _where(self, make: Expressions) -> str:
        return f" WHERE {make.of('bool', 2)}" if self.dice.random() < 0.5 else ""

    def _project(self, relation: Relation) -> str:
        make = Expressions(self.dice, relation.columns)
        items = [make.of(make.some_kind(), 3) for _ in range(self.dice.randint(1, 4))]
        if self.dice.random() < 0.15:
            return f"SELECT * FROM {relation.text}{self._where(make)}"
        shown = ", ".join(f"{item} AS c{number}" for number, item in enumerate(items))
        return f"SELECT {shown} FROM {relation.text}{self._where(make)}"

    def _distinct(self, relation: Relation) -> str:
        make = Expressions(self.dice, relation.columns)
        kinds = [kind for kind in GROUPABLE if make.has(kind)]
        items = [make.of(self.dice.choice(kinds), 1) for _ in range(self.dice.randint(1, 3))]
        shown = ", ".join(f"{item} AS c{number}" for number, item in enumerate(items))
        return f"SELECT DISTINCT {shown} FROM {relation.text}{self._where(make)}"

    def _group(self, relation: Relation) -> str:
        make = Expressions(self.dice, relation.columns)
        keys = [
            make.of(self.dice.choice([kind for kind in GROUPABLE if make.has(kind)]), 1)
            for _ in range(self.dice.choice([0, 1, 1, 2]))
        ]
        keys = [key for key in dict.fromkeys(keys) if any(name in key for name, _ in relation.columns)]
        windows: list[str] = []
        if relation.windowed and self.dice.random() < 0.85:
            windows = self.dice.choice(
                [["window_start", "window_end"], ["window_end"], ["window_start", "window_end", "window_time"]]
            )
        shown = [*windows, *(f"{key} AS k{number}" for number, key in enumerate(keys)), *self._aggregates(make)]
        grouped = ", ".join([*windows, *keys])
        having = f" HAVING {self._having(make)}" if self.dice.random() < 0.2 else ""
        by = f" GROUP BY {grouped}" if grouped else ""
        return f"SELECT {', '.join(shown)} FROM {relation.text}{self._where(make)}{by}{having}"

    def _aggregates(self, make: Expressions) -> list[str]:
        return [f"{self._aggregate(make)} AS a{number}" for number in range(self.dice.randint(1, 4))]

    def _aggregate(self, make: Expressions) -> str:
        name = self.dice.choice(["COUNT(*)", *NAMES])
        condition = f" FILTER (WHERE {make.of('bool', 1)})" if self.dice.random() < 0.25 else ""
        if name == "COUNT(*)":
            return name + condition
        kind = self.dice.choice([one for one in GROUPABLE if make.has(one) and can_aggregate(NAMES[name], TYPES[one])])
        distinct = "DISTINCT " * (self.dice.random() < 0.25)
        return f"{name}({distinct}{make.of(kind, 1)}){condition}"

    def _having(self, make: Expressions) -> str:
        return self.dice.choice(
            ["COUNT(*) > 1", f"COUNT({make.leaf('number')}) % 2 = 0", f"MAX({make.leaf('number')}) > 3"]
        )

    def _union(self, depth: int) -> str:
        """Branches of the same kinds, whose exact types may differ."""
        kinds = [self.dice.choice(GROUPABLE) for _ in range(self.dice.randint(1, 3))]
        branches = []
        for _ in range(self.dice.randint(2, 3)):
            relation = self._relation(max(depth - 1, 0))
            make = Expressions(self.dice, relation.columns)
            items = ", ".join(f"{make.of(kind, 1)} AS c{number}" for number, kind in enumerate(kinds))
            branches.append(f"SELECT {items} FROM {relation.text}{self._where(make)}")
        return self.dice.choice([" UNION ALL ", " UNION ALL ", " UNION "]).join(branches)

    def _columns(self, body: str) -> tuple[tuple[str, str], ...]:
        """What a sub-query shows, as the compiler says; a sum of floats is only passed on, for its last digits depend on the order."""
        schema = load_text(f"{self.prelude}\n{body}", Path(), "inner").program.sinks[-1].schema
        rough = "SUM(" in body or "AVG(" in body
        kinds = ((field.name, kind_of(str(field.type))) for field in schema)
        return tuple((name, "rough" if rough and kind == "double" else kind) for name, kind in kinds)
