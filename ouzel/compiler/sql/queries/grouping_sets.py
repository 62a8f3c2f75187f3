"""GROUPING SETS, CUBE and ROLLUP: each row once for each set that it is grouped by, with the number of the set as one more key.

So a key that is NULL because the set leaves it out is another group than one that is NULL in the data. The set () is one group even of
no rows: a row that no aggregate sees makes it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product

from sqlglot import exp

from ouzel.compiler.expressions import Case, Column, Expression, Literal
from ouzel.compiler.functions.resolution import resolve_call
from ouzel.compiler.plan import Node, Project, Union, Unnest
from ouzel.compiler.sql.queries.output import strip_alias
from ouzel.compiler.sql.queries.scope import Relation, fresh, is_name_of, name_of, pick
from ouzel.compiler.sql.queries.values import no_table
from ouzel.compiler.sql.syntax.places import call_name, place
from ouzel.compiler.sql.syntax.source import QueryText
from ouzel.compiler.types import BIGINT, INT
from ouzel.compiler.written import NodeLocation
from ouzel.errors import NotSupported

MOST_SETS = 64
"""A row is repeated so often at most."""


@dataclass(frozen=True)
class GroupingSets:
    """The sets of one GROUP BY.

    Attributes:
        number: the column that says which set a row is grouped by.
        keys: of each key what it is computed of; those of a plain GROUP BY first.
        sets: of each set which keys it has, by their places.
    """

    number: Column
    keys: tuple[Expression, ...]
    sets: tuple[frozenset[int], ...]

    @property
    def totals(self) -> tuple[int, ...]:
        """The numbers of the sets without a key."""
        return tuple(number for number, one in enumerate(self.sets) if not one)

    def items(self, taken: Sequence[str]) -> Iterator[tuple[str, Expression, Expression]]:
        """Of each key its column, what it is computed of, and that or NULL, as the set says."""
        names = list(taken)
        for place_of, value in enumerate(self.keys):
            everywhere = all(place_of in one for one in self.sets)
            known = value.name if isinstance(value, Column) else ""
            name = known if known and everywhere else fresh(f"by_{known}" if known else "$key", names)
            names.append(name)
            yield name, value, value if everywhere else self._null_out(place_of)

    def _null_out(self, place_of: int) -> Expression:
        value = self.keys[place_of]
        having = [Literal(INT, number) for number, one in enumerate(self.sets) if place_of in one]
        return Case(value.type, ((resolve_call("in", [self.number, *having]), value),), Literal(value.type, None))

    def bits(self, places: Sequence[int]) -> Expression:
        """GROUPING of these keys: a bit for each, 1 where the set leaves it out, the last one lowest."""
        values = [sum(1 << place for place, key in enumerate(reversed(places)) if key not in one) for one in self.sets]
        *before, last = (Literal(BIGINT, value) for value in values)
        branches = tuple((resolve_call("eq", [self.number, Literal(INT, n)]), value) for n, value in enumerate(before))
        return Case(BIGINT, branches, last) if branches else last


def is_sets(item: exp.Expr) -> bool:
    """Whether an item of GROUP BY stands for several sets."""
    return isinstance(item, exp.GroupingSets | exp.Rollup | exp.Cube)


def is_nothing(item: exp.Expr) -> bool:
    """Whether an item of GROUP BY adds neither a key nor a set: (), and the sets that have it alone."""
    if isinstance(item, exp.Tuple):
        return not item.expressions
    return is_sets(item) and _sets_of(item) == [[]]


def expand_sets(
    source: QueryText,
    relation: Relation,
    plain: Sequence[exp.Expr],
    items: Sequence[exp.Expr],
    bind: Callable[[exp.Expr], Expression],
) -> tuple[Relation, GroupingSets]:
    """The relation with each row once for each set, and the sets; `plain` are the keys of all.

    Raises:
        NotSupported: there are too many.
    """
    made = list(product(*map(_sets_of, items)))
    if len(made) > MOST_SETS:
        problem = f"GROUP BY of {len(made)} sets is not supported: each row would be grouped so often"
        raise source.error(
            problem, place(items[0]), f"write GROUPING SETS with the {MOST_SETS} or fewer you want", NotSupported
        )
    keys: dict[Expression, int] = {}
    every = {keys.setdefault(bind(item), len(keys)) for item in plain}
    sets = [
        frozenset(every | {keys.setdefault(bind(item), len(keys)) for part in parts for item in part}) for parts in made
    ]
    name = fresh("$grouping", relation.node.schema.names)
    numbers = resolve_call("array", [Literal(INT, number) for number in range(len(sets))])
    node = Unnest(relation.node, numbers, ((name, INT),), written=NodeLocation(place(items[0])[0]))
    return replace(relation, node=node), GroupingSets(Column(INT, name), tuple(keys), tuple(sets))


def with_totals(node: Node, sets: GroupingSets) -> Node:
    """These rows, and for each set without a key one more in which all but its number is NULL, so that it has a group."""
    name = sets.number.name
    numbers = resolve_call("array", [Literal(INT, number) for number in sets.totals])
    made = Unnest(no_table().node, numbers, ((name, INT),))
    items = (
        (column.name, sets.number if column.name == name else Literal(column.type, None)) for column in node.schema
    )
    return Union((Project(made, tuple(items)), node))  # first what is NULL: the columns of all are the first's


def bind_grouping(
    source: QueryText, node: exp.Expr, sets: GroupingSets, bind: Callable[[exp.Expr], Expression]
) -> Expression:
    """GROUPING(a, b), or GROUPING_ID.

    Raises:
        QueryError: an argument is no key, or there is none.
    """
    name = call_name(node).upper()
    places: list[int] = []
    for argument in node.expressions:
        value = bind(argument)
        if value not in sets.keys:
            raise source.error(f"{name} takes keys of GROUP BY, and this is none", place(argument))
        places.append(sets.keys.index(value))
    if not places:
        raise source.error(f"{name} needs a key", place(node), f"write {name}(column)")
    return sets.bits(places)


def written_key(source: QueryText, tree: exp.Select, item: exp.Expr, relation: Relation) -> exp.Expr:
    """What a key by ordinal or by alias stands for, as it is written in the select list; any other key itself."""
    if isinstance(item, exp.Literal) and not item.args["is_string"] and item.name.isdigit():
        number = int(item.name)
        return strip_alias(tree.expressions[number - 1]) if 1 <= number <= len(tree.expressions) else item
    if isinstance(item, exp.Column) and not item.args.get("table"):
        written = name_of(source, item.this)
        if not pick(written, (column.name for column in relation.columns)):
            aliased = (
                each for each in tree.expressions if isinstance(each, exp.Alias) and is_name_of(written, each.alias)
            )
            return strip_alias(next(aliased, item))
    return item


def _sets_of(item: exp.Expr) -> list[list[exp.Expr]]:
    """The sets that an item stands for, each a list of keys."""
    parts = [keys_of(part) for part in item.expressions if not is_sets(part)]
    match item:
        case exp.Rollup():
            chosen = [parts[:count] for count in range(len(parts), -1, -1)]
        case exp.Cube():
            chosen = [list(some) for count in range(len(parts), -1, -1) for some in combinations(parts, count)]
        case _:
            return [one for part in item.expressions for one in (_sets_of(part) if is_sets(part) else [keys_of(part)])]
    return [[key for part in some for key in part] for some in chosen]


def keys_of(item: exp.Expr) -> list[exp.Expr]:
    """The keys that an item of GROUP BY names: several in parentheses, or in more of them, are as many."""
    while isinstance(item, exp.Paren):
        item = item.this
    return [key for part in item.expressions for key in keys_of(part)] if isinstance(item, exp.Tuple) else [item]
