"""Queries over several relations, drawn at random: each as Ouzel's text and as DuckDB's, over the law's tables.

A relation is grown from tables by filters, projections, joins, groupings, windows, unions and views, a handful deep. Types are
kept, so that every query compiles; what both dialects spell alike and mean alike is all that is drawn. DOUBLE is `approx`: it is
carried and added up, and never compared or grouped by, for the last digits of a sum depend on the order of rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from random import Random

MOST_ROWS = 400
"""Of an intermediate relation: larger ones are drawn again."""

Columns = tuple[tuple[str, str], ...]

TABLES: dict[str, Columns] = {
    "events": (
        ("id", "int"), ("ts", "time"), ("user_id", "int"), ("kind", "text"), ("amount", "approx"), ("price", "decimal"),
        ("quantity", "int"), ("flag", "bool"),
    ),
    "orders": (("order_id", "int"), ("customer", "text"), ("total", "decimal"), ("discount", "approx"), ("ts", "time")),
    "words": (("word", "text"), ("n", "int")),
    "nothing": (("id", "int"), ("user_id", "int"), ("kind", "text"), ("flag", "bool")),
    "single": (("id", "int"), ("user_id", "int"), ("kind", "text"), ("price", "decimal")),
}  # fmt: skip

LITERALS = {
    "int": ("0", "1", "2", "3", "7", "15", "-4"),
    "text": ("'click'", "'buy'", "'ann'", "''", "'the'"),
    "bool": ("TRUE", "FALSE"),
    "decimal": ("CAST(12.5 AS DECIMAL(10, 2))",),
    "time": ("TIMESTAMP '2024-02-28 23:41:00'", "TIMESTAMP '2024-02-29 00:00:00'"),
    "approx": ("CAST(1 AS DOUBLE)",),
}

SET_OPERATIONS = ("UNION ALL", "UNION", "INTERSECT", "EXCEPT", "INTERSECT ALL", "EXCEPT ALL")

JOINS = ("JOIN", "JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "SEMI JOIN", "ANTI JOIN")

COMPARED = ("int", "text", "bool", "decimal", "time")
"""The types that may be keys."""


@dataclass(frozen=True)
class Relation:
    """Something to select from: a name or a query in parentheses, as each dialect writes it, and its columns with their types."""

    text: str
    oracle: str
    columns: Columns

    def of(self, *types: str) -> list[str]:
        """The names of its columns of these types."""
        return [name for name, kind in self.columns if kind in types]


@dataclass
class Relations:
    """Draws from `random`; `count` answers how many rows DuckDB finds in a relation behind the views so far."""

    random: Random
    count: Callable[[str], int]
    views: list[tuple[str, Relation]] = field(default_factory=list)
    names: int = 0

    def query(self) -> tuple[str, str]:
        """A whole query: views and a SELECT, in both dialects."""
        relation = self.relation(self.random.randint(1, 5))
        views = "".join(f"CREATE VIEW {name} AS SELECT * FROM {body.text} AS q;\n" for name, body in self.views)
        emit = self.random.choice(("", "", "", " EMIT CHANGES"))
        return (
            f"{views}SELECT * FROM {relation.text} AS q{emit};",
            f"{self.behind()}SELECT * FROM {relation.oracle} AS q",
        )

    def behind(self) -> str:
        """The views so far, as DuckDB has them."""
        bodies = ", ".join(f"{name} AS (SELECT * FROM {body.oracle} AS q)" for name, body in self.views)
        return f"WITH {bodies} " if bodies else ""

    def relation(self, depth: int) -> Relation:
        """A relation of at most `MOST_ROWS` rows; seldom of none."""
        while True:
            before = list(self.views)
            made = self._grown(depth)
            rows = self._rows_of(made)
            if rows <= MOST_ROWS and (rows or self.random.random() < 0.1):
                return made
            self.views = before

    def _rows_of(self, relation: Relation) -> int:
        return self.count(f"{self.behind()}SELECT COUNT(*) FROM {relation.oracle} AS q")

    def _grown(self, depth: int) -> Relation:
        if depth == 0:
            return self._leaf()
        ways = (
            self._filtered, self._projected, self._joined, self._joined, self._joined, self._grouped, self._grouped, self._distinct,
            self._united, self._united, self._windowed, self._timed, self._ranked, self._ranked, self._limited,
            self._member, self._member, self._asked, self._viewed, self._twice,
        )  # fmt: skip
        return self.random.choice(ways)(depth - 1)

    def _fresh(self) -> str:
        self.names += 1
        return f"c{self.names}"

    def _leaf(self) -> Relation:
        known = [Relation(name, name, body.columns) for name, body in self.views]
        if known and self.random.random() < 0.4:
            return self.random.choice(known)
        if self.random.random() < 0.1:
            return self._values()
        name = self.random.choices(list(TABLES), (5, 4, 3, 1, 1))[0]
        columns = TABLES[name]
        number = columns[0][0] if columns[0][1] == "int" else "n"
        query = f"(SELECT * FROM {name} WHERE {number} % {self.random.randint(2, 6)} = {self.random.randint(0, 1)})"
        return self._picked(Relation(query, query, columns))

    def _values(self) -> Relation:
        """A few rows that the query itself has, or one without FROM."""
        columns = tuple(
            (self._fresh(), kind) for kind in self.random.sample(("int", "text", "time"), self.random.randint(1, 3))
        )
        names = ", ".join(name for name, _ in columns)
        rows = [[self.random.choice(LITERALS[kind]) for _, kind in columns] for _ in range(self.random.randint(1, 4))]
        if len(rows) == 1:
            listed = ", ".join(f"{value} AS {name}" for value, (name, _) in zip(rows[0], columns, strict=True))
            query = f"(SELECT {listed})"
        else:
            query = f"(SELECT * FROM (VALUES {', '.join(f'({chr(44).join(row)})' for row in rows)}) AS v ({names}))"
        return Relation(query, query, columns)

    def _picked(self, relation: Relation) -> Relation:
        """Some of its columns, under fresh names."""
        some = self.random.sample(relation.columns, self.random.randint(1, len(relation.columns)))
        return self._select(relation, [(name, kind, name) for name, kind in some])

    def _select(
        self, relation: Relation, items: Sequence[tuple[str, str, str]], rest: str = "", distinct: bool = False
    ) -> Relation:
        """`items` are (expression, type, its name to be or that of the column); names are made fresh."""
        named = [(expression, kind, self._fresh()) for expression, kind, _ in items]
        listed = ", ".join(f"{expression} AS {name}" for expression, _, name in named)
        head = f"SELECT {'DISTINCT ' if distinct else ''}{listed} FROM"
        columns = tuple((name, kind) for _, kind, name in named)
        return Relation(f"({head} {relation.text} AS q{rest})", f"({head} {relation.oracle} AS q{rest})", columns)

    def _filtered(self, depth: int) -> Relation:
        below = self.relation(depth)
        return self._select(
            below, [(name, kind, name) for name, kind in below.columns], f" WHERE {self.predicate(below.columns)}"
        )

    def _projected(self, depth: int) -> Relation:
        below = self.relation(depth)
        kinds = [self.random.choice(("int", "text", "bool")) for _ in range(self.random.randint(1, 3))]
        items = [(self.expression(kind, below.columns), kind, "") for kind in kinds]
        items += [(name, kind, name) for name, kind in self.random.sample(below.columns, min(2, len(below.columns)))]
        return self._select(below, items)

    def _distinct(self, depth: int) -> Relation:
        below = self.relation(depth)
        keys = [(name, kind, name) for name, kind in below.columns if kind in COMPARED][:3]
        return self._select(below, keys, distinct=True) if keys else below

    def _viewed(self, depth: int) -> Relation:
        below = self.relation(depth)
        name = f"v{len(self.views) + 1}_{self._fresh()}"
        self.views.append((name, below))
        return Relation(name, name, below.columns)

    def _twice(self, depth: int) -> Relation:
        """A view beside itself."""
        view = self._viewed(depth)
        return self._beside(self._grown_from(view), self._grown_from(view))

    def _grown_from(self, relation: Relation) -> Relation:
        if self.random.random() < 0.3:
            return self._group(relation)
        rest = f" WHERE {self.predicate(relation.columns)}" if self.random.random() < 0.5 else ""
        return self._select(relation, [(name, kind, name) for name, kind in relation.columns], rest)

    def _joined(self, depth: int) -> Relation:
        return self._beside(self.relation(depth), self.relation(self.random.randint(0, depth)))

    def _beside(self, left: Relation, right: Relation) -> Relation:
        left, right = self._renamed(left), self._renamed(right)
        kind = self.random.choice(
            ("JOIN", "JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "SEMI JOIN", "ANTI JOIN", "CROSS JOIN")
        )
        keys = list(self._pairs(left, right))
        if not keys and kind not in ("JOIN", "LEFT JOIN"):
            kind = "CROSS JOIN"
        word = {"CROSS JOIN": "", ",": " WHERE "}.get(kind, " ON ")
        on = f"{word}{self._condition(left, right, keys)}" if word else ""
        columns = left.columns if kind in ("SEMI JOIN", "ANTI JOIN") else (*left.columns, *right.columns)
        listed = ", ".join(name for name, _ in columns)
        made = [f"(SELECT {listed} FROM {one} AS l {kind} {other} AS r{on})" for one, other in
                ((left.text, right.text), (left.oracle, right.oracle))]  # fmt: skip
        return Relation(made[0], made[1], columns)

    def _renamed(self, relation: Relation) -> Relation:
        return self._select(relation, [(name, kind, name) for name, kind in relation.columns])

    def _pairs(self, left: Relation, right: Relation) -> Iterator[str]:
        for kind in COMPARED:
            for one in left.of(kind):
                yield from (f"{one} = {other}" for other in right.of(kind))

    def _condition(self, left: Relation, right: Relation, keys: list[str]) -> str:
        parts = self.random.sample(keys, min(len(keys), self.random.choice((0, 1, 1, 2, 3))))
        if not parts or self.random.random() < 0.4:
            parts.append(self.predicate((*left.columns, *right.columns)))
        return " AND ".join(parts)

    def _united(self, depth: int) -> Relation:
        left, right = self.relation(depth), self.relation(self.random.randint(0, depth))
        shared = [kind for kind in ("int", "text", "bool", "time") if left.of(kind) and right.of(kind)] or ["int"]
        kinds = self.random.choices(shared, k=self.random.randint(1, 3))
        sides = [
            self._select(side, [(self.expression(kind, side.columns), kind, "") for kind in kinds])
            for side in (left, right)
        ]
        word = self.random.choice(SET_OPERATIONS)
        return Relation(
            f"(SELECT * FROM {sides[0].text} AS a {word} SELECT * FROM {sides[1].text} AS b)",
            f"(SELECT * FROM {sides[0].oracle} AS a {word} SELECT * FROM {sides[1].oracle} AS b)",
            sides[0].columns,
        )

    def _member(self, depth: int) -> Relation:
        """Rows with a value that another relation has too, or has not."""
        left, right = self._comparable(depth), self._comparable(self.random.randint(0, depth))
        pairs = [(one, other) for one, kind in left.columns for other, same in right.columns if kind == same]
        if not pairs:
            return left
        value, other = self.random.choice(pairs)
        left, right = self._called(left, "l"), self._called(right, "r")
        word = self.random.choice(("", "", "NOT "))
        if self.random.random() < 0.5:
            test = f"l_{value} {word}IN (SELECT r_{other} FROM {{}} AS r)"
        else:
            test = f"{word}EXISTS (SELECT 1 FROM {{}} AS r WHERE r_{other} = l_{value})"
        may_be_either = "NOT IN" not in test and self.random.random() < 0.2
        either = f" OR {self.predicate(left.columns, 1)}" if may_be_either else ""
        return Relation(
            f"(SELECT * FROM {left.text} AS l WHERE {test.format(right.text)}{either})",
            f"(SELECT * FROM {left.oracle} AS l WHERE {test.format(right.oracle)}{either})",
            left.columns,
        )

    def _asked(self, depth: int) -> Relation:
        """An aggregate of another relation as a value beside each row."""
        left, right = (
            self._called(self._comparable(depth), "l"),
            self._called(self.relation(self.random.randint(0, depth)), "r"),
        )
        call, kind = self._aggregate(right)
        pairs = [
            (one, other)
            for one, kind in left.columns
            for other, same in right.columns
            if kind == same and same in COMPARED
        ]
        where = (
            " WHERE {} = {}".format(*reversed(self.random.choice(pairs)))
            if pairs and self.random.random() < 0.6
            else ""
        )
        name, listed = self._fresh(), ", ".join(name for name, _ in left.columns)
        made = [f"(SELECT {listed}, (SELECT {call} FROM {two} AS r{where}) AS {name} FROM {one} AS l)" for one, two in
                ((left.text, right.text), (left.oracle, right.oracle))]  # fmt: skip
        return Relation(made[0], made[1], (*left.columns, (name, kind)))

    def _called(self, relation: Relation, side: str) -> Relation:
        """The relation with columns that say which side they are of."""
        listed = ", ".join(f"{name} AS {side}_{name}" for name, _ in relation.columns)
        columns = tuple((f"{side}_{name}", kind) for name, kind in relation.columns)
        return Relation(
            f"(SELECT {listed} FROM {relation.text} AS q)", f"(SELECT {listed} FROM {relation.oracle} AS q)", columns
        )

    def _grouped(self, depth: int) -> Relation:
        return self._group(self.relation(depth))

    def _group(self, below: Relation) -> Relation:
        keys = self.random.sample(
            below.of(*COMPARED), min(len(below.of(*COMPARED)), self.random.choice((0, 1, 1, 1, 2)))
        )
        kinds = dict(below.columns)
        items = [(key, kinds[key], key) for key in keys]
        items += [(*self._aggregate(below), "") for _ in range(self.random.randint(1, 3))]
        rest = f" GROUP BY {', '.join(keys)}" if keys else ""
        if (
            len(keys) > 1 and self.random.random() < 0.5 and self._rows_of(below)
        ):  # of no rows Spark gives no grand total
            rest = f" GROUP BY {self._sets_of(keys)}"
        if self.random.random() < 0.3:
            rest += f" HAVING COUNT(*) {self.random.choice(('>', '<', '<>'))} {self.random.randint(1, 4)}"
        return self._select(below, items, rest)

    def _sets_of(self, keys: Sequence[str]) -> str:
        listed = ", ".join(keys)
        sets = f"GROUPING SETS (({listed}), ({keys[-1]}), ({keys[0]}))"
        return self.random.choice((f"ROLLUP ({listed})", f"CUBE ({listed})", sets))

    def _aggregate(self, below: Relation) -> tuple[str, str]:
        where = f" FILTER (WHERE {self.predicate(below.columns)})" if self.random.random() < 0.25 else ""
        name, kind = self.random.choice(below.columns)
        once = "DISTINCT " if kind in COMPARED and self.random.random() < 0.3 else ""
        calls = [("COUNT(*)", "int"), (f"COUNT({once}{name})", "int")]
        if kind in ("int", "text", "time", "decimal"):
            calls += [(f"{self.random.choice(('MIN', 'MAX'))}({name})", kind)]
        if kind == "int":
            calls += [(f"SUM({once}{name})", "int"), (f"AVG({name})", "approx")]
        if kind in ("decimal", "approx"):
            calls += [(f"SUM({name})", kind)]
        call, made = self.random.choice(calls)
        return call + where, made

    def _windowed(self, _: int) -> Relation:
        """A windowed aggregate of a table with event time, tumbling or hopping."""
        table = self.random.choice(("events", "orders"))
        columns = tuple(pair for pair in TABLES[table] if pair[0] != "ts")
        size = self.random.choice((1, 4, 10))
        slide = self.random.choice((size, size, size * 2))
        if slide == size:
            text = f"TABLE(TUMBLE(TABLE {table}, DESCRIPTOR(ts), INTERVAL '{size}' MINUTE))"
            start = f"tumble(ts, INTERVAL {size} MINUTE)"
        else:
            text = f"TABLE(HOP(TABLE {table}, DESCRIPTOR(ts), INTERVAL '{size}' MINUTE, INTERVAL '{slide}' MINUTE))"
            start = f"unnest(hops(ts, INTERVAL {size} MINUTE, INTERVAL {slide} MINUTE))"
        oracle = f"(SELECT *, window_start + INTERVAL {slide} MINUTE AS window_end FROM (SELECT *, {start} AS window_start FROM {table}))"
        relation = Relation(text, oracle, columns)
        keys = self.random.sample(relation.of(*COMPARED), self.random.randint(0, 1))
        items = [("window_start", "time", ""), ("window_end", "time", "")]
        items += [(key, dict(columns)[key], "") for key in keys]
        items += [(*self._aggregate(relation), "") for _ in range(self.random.randint(1, 2))]
        where = f" WHERE {self.predicate(columns)}" if self.random.random() < 0.5 else ""
        return self._select(relation, items, f"{where} GROUP BY {', '.join(('window_start', 'window_end', *keys))}")

    def _comparable(self, depth: int) -> Relation:
        """A relation without columns whose order may depend on a last digit."""
        while True:
            below = self.relation(depth)
            if keys := [(name, kind, name) for name, kind in below.columns if kind in COMPARED]:
                return below if len(keys) == len(below.columns) else self._select(below, keys)

    def _order(self, columns: Columns, whole: bool) -> str:
        """By some columns, or by all: then rows that are alike in the order are alike altogether."""
        some = self.random.sample(columns, len(columns) if whole else self.random.randint(1, len(columns)))
        return ", ".join(
            f"{name} {self.random.choice(('ASC NULLS FIRST', 'DESC NULLS LAST', 'ASC NULLS LAST'))}" for name, _ in some
        )

    def _ranked(self, depth: int) -> Relation:
        """OVER, and often a filter on it."""
        below = self._comparable(depth)
        name, kind = self.random.choice(below.columns)
        frame = self.random.choice(("ROWS", "RANGE")) + " BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW"
        near = f"ROWS BETWEEN {self.random.randint(0, 3)} PRECEDING AND {self.random.choice(('CURRENT ROW', '2 FOLLOWING'))}"
        call, made, whole, rows = self.random.choice((
            ("ROW_NUMBER()", "int", True, ""), ("ROW_NUMBER()", "int", True, ""), ("RANK()", "int", False, ""),
            ("DENSE_RANK()", "int", False, ""), (f"LAG({name})", kind, True, ""), (f"LEAD({name}, 2)", kind, True, ""),
            ("COUNT(*)", "int", True, frame), (f"COUNT({name})", "int", True, near), (f"FIRST_VALUE({name})", kind, True, near),
            (f"LAST_VALUE({name})", kind, True, near), (f"MAX({name})", kind, True, near if kind != "bool" else frame),
        ))  # fmt: skip
        if kind == "bool" and call.startswith("MAX"):
            call, made = "COUNT(*)", "int"
        parts = self.random.sample(below.columns, self.random.randint(0, 1))
        by = f"PARTITION BY {parts[0][0]} " if parts else ""
        value = f"{call} OVER ({by}ORDER BY {self._order(below.columns, whole)} {rows})"
        ranked = self._select(below, [*((name, kind, "") for name, kind in below.columns), (value, made, "")])
        if made != "int" or self.random.random() < 0.4:
            return ranked
        some = f" WHERE {ranked.columns[-1][0]} <= {self.random.randint(1, 4)}"
        return self._select(ranked, [(name, kind, "") for name, kind in ranked.columns], some)

    def _limited(self, depth: int) -> Relation:
        below = self._comparable(depth)
        rest = f" ORDER BY {self._order(below.columns, True)} LIMIT {self.random.randint(1, 12)}"
        return self._select(below, [(name, kind, "") for name, kind in below.columns], rest)

    def _timed(self, _: int) -> Relation:
        """Two tables with event time, joined where their times are near."""
        sides = [self.random.choice(("events", "orders")) for _ in "lr"]
        shown = [
            [(f"{alias}.{name}", kind) for name, kind in TABLES[table] if name != "ts"]
            for alias, table in zip("lr", sides, strict=True)
        ]
        before, after = self.random.randint(0, 5), self.random.randint(1, 5)
        near = f"l.ts BETWEEN r.ts - INTERVAL '{before}' MINUTE AND r.ts + INTERVAL '{after}' SECOND"
        numbers = [self.random.choice([name for name, kind in columns if kind == "int"]) for columns in shown]
        more = self.random.choice(
            (
                f" AND {numbers[0]} = {numbers[1]}",
                f" AND {numbers[0]} % 3 = {numbers[1]} % 3",
                f" AND {numbers[0]} < {numbers[1]}",
            )
        )
        kind = self.random.choice(JOINS)
        columns = shown[0] if kind in ("SEMI JOIN", "ANTI JOIN") else [*shown[0], *shown[1]]
        some = [
            (name, kind, self._fresh())
            for name, kind in self.random.sample(columns, self.random.randint(1, len(columns)))
        ]
        listed = ", ".join(f"{name} AS {new}" for name, _, new in some)
        query = f"(SELECT {listed} FROM {sides[0]} AS l {kind} {sides[1]} AS r ON {near}{more})"
        return Relation(query, query, tuple((new, kind) for _, kind, new in some))

    def expression(self, kind: str, columns: Columns, depth: int = 2) -> str:
        """A value of a type."""
        own = [name for name, other in columns if other == kind]
        if depth == 0 or (own and self.random.random() < 0.4):
            return self.random.choice(own) if own and self.random.random() < 0.8 else self.random.choice(LITERALS[kind])

        def inner(other: str = kind) -> str:
            return self.expression(other, columns, depth - 1)

        common = [
            lambda: f"COALESCE({inner()}, {inner()})",
            lambda: f"CASE WHEN {self.predicate(columns, depth - 1)} THEN {inner()} ELSE {inner()} END",
            lambda: f"NULLIF({inner()}, {inner()})",
        ]
        own_ways: dict[str, list[Callable[[], str]]] = {
            "int": [
                lambda: f"(CAST({inner()} AS BIGINT) + {self.random.randint(-3, 9)})",
                lambda: f"(CAST({inner()} AS BIGINT) % {self.random.randint(2, 5)})",
                lambda: f"CHAR_LENGTH({inner('text')})",
            ],
            "text": [
                lambda: f"UPPER({inner()})",
                lambda: f"({inner()} || {inner()})",
                lambda: f"CAST({inner('int')} AS VARCHAR)",
                lambda: f"SUBSTRING({inner()}, 1, 2)",
            ],
            "bool": [lambda: f"({self.predicate(columns, depth - 1)})"],
        }
        return self.random.choice([*common, *own_ways.get(kind, []) * 2])()

    def predicate(self, columns: Columns, depth: int = 2) -> str:
        """A condition on these columns."""
        kinds = [kind for kind in ("int", "text", "time") if any(other == kind for _, other in columns)] or ["int"]
        if depth > 0 and self.random.random() < 0.35:
            one, other = (self.predicate(columns, depth - 1) for _ in range(2))
            return self.random.choice((f"({one} AND {other})", f"({one} OR {other})", f"NOT ({one})"))
        kind = self.random.choice(kinds)
        value, other = (self.expression(kind, columns, min(depth, 1)) for _ in range(2))
        sign = self.random.choice(("=", "<>", "<", "<=", ">", ">="))
        flags = [name for name, other_kind in columns if other_kind == "bool"]
        some = ", ".join(self.random.sample(LITERALS[kind], 2))
        ways = [
            f"{value} {sign} {other}",
            f"{value} {sign} {other}",
            f"{value} IS NOT NULL",
            f"{value} IS NULL",
            f"{value} IN ({some})",
            f"{value} IS NOT DISTINCT FROM {other}",
            f"{value} BETWEEN {self.random.choice(LITERALS[kind])} AND {other}",
            *flags,
        ]
        return self.random.choice(ways)
