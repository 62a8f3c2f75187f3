"""Random queries that group by sets of keys, over tables of no row or of few."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

KEYS = ("a", "b")
VALUES = (None, 1, 1, 2)
ROWS = (0, 0, 1, 2, 4)
"""How many rows a table may have."""

SOURCES = (
    "t",
    "(SELECT * FROM t WHERE a > 1) AS t",
    "(SELECT * FROM t WHERE FALSE) AS t",
    "(SELECT t.a, t.b, u.v FROM t JOIN u ON t.a = u.a) AS t",
    "(SELECT t.a, t.b, u.v FROM t LEFT JOIN u ON t.a = u.a) AS t",
    "(SELECT a, b, COUNT(v) AS v FROM t GROUP BY a, b) AS t",
    "(SELECT a, MAX(b) AS b, MAX(v) AS v FROM t GROUP BY a HAVING COUNT(*) < 2) AS t",  # what comes is taken back
    "(SELECT a, b, v FROM t EXCEPT SELECT a, b, v FROM u) AS t",
)
ITEMS = (
    "46 AS c", "COUNT(*) AS n", "COUNT(v) AS some", "SUM(v) AS s", "COUNT(DISTINCT v) AS kinds", "MIN(v) AS least",
    "SUM(COALESCE(v, 5)) AS filled", "COUNT(*) FILTER (WHERE v > 1) AS large", "SUM(1) AS ones", "MAX(v + 1) FILTER (WHERE TRUE) AS most",
)  # fmt: skip
HAVING = (
    "",
    "",
    "",
    "HAVING TRUE",
    "HAVING 1 = 2",
    "HAVING COUNT(*) = 0",
    "HAVING SUM(v) IS NULL",
    "HAVING COUNT(*) > 1",
)
ABOVE = (
    "{query}",
    "{query}",
    "SELECT COUNT(*) AS found FROM ({query}) AS q",
    "SELECT DISTINCT 1 AS one FROM ({query}) AS q",
    "SELECT a FROM t WHERE EXISTS ({query})",
    "SELECT a FROM t WHERE NOT EXISTS ({query})",
    "SELECT a FROM t WHERE 46 IN (SELECT x0 FROM ({named}) AS q)",
    "SELECT a, (SELECT COUNT(*) FROM ({query}) AS q) AS groups FROM t",
    "SELECT x0, 1 AS side FROM ({named}) AS q UNION ALL SELECT a, 2 FROM t",
    "SELECT x0 FROM ({named}) AS q INTERSECT SELECT v FROM u",
    "SELECT x0, u.v AS beside FROM u LEFT JOIN ({named}) AS q ON TRUE",
    "SELECT x0, COUNT(*) OVER () AS groups FROM ({named}) AS q",
)
"""What stands around a query; `named` is it with its first column called x0."""


@dataclass(frozen=True)
class Question:
    """A query over `t` and `u`, as we write it and as DuckDB does, the rows of both, and how it runs."""

    rows: dict[str, list[tuple[int | None, ...]]]
    text: str
    oracle: str
    settings: tuple[tuple[str, str], ...]

    def write(self, directory: Path) -> str:
        """The tables as files of a folder; the whole program."""
        for name, rows in self.rows.items():
            lines = (json.dumps(dict(zip(("a", "b", "v"), row, strict=True))) + "\n" for row in rows)
            (directory / f"{name}.jsonl").write_text("".join(lines), encoding="utf-8")
        made = "CREATE TABLE {0} (a INT, b INT, v INT) WITH ('connector' = 'file', 'path' = '{0}.jsonl', 'format' = 'json');"
        return "\n".join([*(made.format(name) for name in self.rows), f"{self.text};"])


def draw_question(seed: int) -> Question:
    """The question of this seed."""
    dice = Random(seed)
    rows = {
        name: [tuple(dice.choice(VALUES) for _ in range(3)) for _ in range(dice.choice(ROWS))] for name in ("t", "u")
    }
    group, keys, has_sets = _grouping(dice)
    shown = [*dice.sample(keys, dice.randint(0, len(keys))), *dice.sample(ITEMS, dice.randint(0, 3))] or ["46 AS c"]
    if dice.random() < 0.5 and has_sets:
        shown.append(f"GROUPING({', '.join(keys)}) AS g")
    source, having = dice.choice(SOURCES), dice.choice(HAVING)
    named = [f"{shown[0].partition(' AS ')[0]} AS x0", *shown[1:]]
    query, again = (f"SELECT {', '.join(items)} FROM {source} {group} {having}" for items in (shown, named))
    text = dice.choice(ABOVE).format(query=query, named=again)
    settings = (("batch.rows", str(dice.choice((1, 2, 100)))), ("parallelism", str(dice.randint(1, 3))))
    oracle = text.replace("ROLLUP ()", "GROUPING SETS (())").replace("CUBE ()", "GROUPING SETS (())")
    return Question(rows, text, oracle, settings)


def _grouping(dice: Random) -> tuple[str, list[str], bool]:
    """A GROUP BY clause of sets, or none, the keys that it names, and whether a set names one."""
    items = [_item(dice) for _ in range(dice.choice((0, 1, 1, 1, 2)))]
    if not items:
        return dice.choice(("", "GROUP BY ()", "GROUP BY GROUPING SETS (())")), [], False
    text = ", ".join(items)
    named = [key for key in KEYS if key in text]
    return f"GROUP BY {text}", named, any(key in item for item in items for key in KEYS if item != key)


def _item(dice: Random) -> str:
    match dice.choice(("key", "nothing", "rollup", "cube", "sets", "sets")):
        case "key":
            return dice.choice(KEYS)
        case "nothing":
            return dice.choice(("()", "ROLLUP ()", "CUBE ()", "GROUPING SETS (())", "GROUPING SETS ((), ())"))
        case "sets":
            return f"GROUPING SETS ({', '.join(_set(dice) for _ in range(dice.randint(1, 3)))})"
        case kind:
            return f"{kind.upper()} ({_listed(dice, 1)})"


def _set(dice: Random) -> str:
    if dice.random() < 0.2:
        return f"ROLLUP ({_listed(dice, 1)})"
    return f"({_listed(dice, 0)})"


def _listed(dice: Random, least: int) -> str:
    chosen: Sequence[str] = dice.sample(KEYS, dice.randint(least, len(KEYS)))
    return ", ".join(chosen)
