"""Subqueries over the elements of an array of the row around them: EXISTS, IN and values of `(SELECT ... FROM UNNEST(t.a) AS u (x))`.

No other row is looked at, so there is no join: what the subquery selects is gathered as an array, of which the rest is asked.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlglot import exp

from ouzel.compiler.coercion import cast_to
from ouzel.compiler.expressions import Case, Column, Expression, Literal, conjunction
from ouzel.compiler.functions.resolution import resolve_call
from ouzel.compiler.plan import GatherElements, Unnest
from ouzel.compiler.sql.expressions.binder import Binder
from ouzel.compiler.sql.queries.correlation import Correlated, Queries, can_bind, conjuncts_of, has_subquery, select_of
from ouzel.compiler.sql.queries.output import strip_alias
from ouzel.compiler.sql.queries.scope import Relation, fresh
from ouzel.compiler.sql.queries.unnest import bind_unnest
from ouzel.compiler.sql.queries.values import no_table
from ouzel.compiler.sql.syntax.places import call_name, place
from ouzel.compiler.types import BIGINT, BOOLEAN, INT
from ouzel.compiler.written import NodeLocation
from ouzel.errors import NotSupported, QueryError

_CLAUSES = frozenset({"expressions", "from_", "where", "distinct"})
_OF_ARRAYS = {"max": "array_max", "min": "array_min"}
_GROUPED = "write UNNEST in the FROM of the query around, and group that by a key of the row"


def elements_of(queries: Queries, query: exp.Expr, relation: Relation) -> ElementQuery | None:
    """What a subquery asks of the elements of an array of the row around it; None if it reads anything else.

    Raises:
        NotSupported: it has clauses beside WHERE.
    """
    tree = select_of(query)
    if not isinstance(tree, exp.Select):
        return None
    table = tree.args.get("from_")
    if table is None or not isinstance(table.this, exp.Unnest) or tree.args.get("joins"):
        return None
    if all(can_bind(queries, array, no_table()) for array in table.this.expressions):
        return None
    clause = next((key for key, value in tree.args.items() if value and key not in _CLAUSES), "")
    if clause:
        word = {"group": "GROUP BY", "order": "ORDER BY"}.get(clause, clause.upper())
        problem = f"{word} in a subquery over the elements of an array of the row around it is not supported"
        raise queries.source.error(problem, place(tree), _GROUPED, NotSupported)
    return ElementQuery(queries, tree, relation)


@dataclass(frozen=True)
class ElementQuery:
    """One such subquery."""

    queries: Queries
    tree: exp.Select
    outer: Relation

    def exists(self) -> tuple[Expression, Relation]:
        """Whether there is an element, and the relation that knows."""
        array, relation = self._gather(None)
        return resolve_call("gt", [resolve_call("cardinality", [array]), Literal(INT, 0)]), relation

    def contains(self, value: exp.Expr) -> tuple[Expression, Relation]:
        """Whether what it selects holds a value; unknown as IN is."""
        if isinstance(value, exp.Tuple) or len(self.tree.expressions) != 1:
            problem = "IN of several columns over the elements of an array of the row around is not supported"
            raise self._error(problem, value, "compare them in its WHERE, and ask EXISTS")
        array, relation = self._gather(strip_alias(self.tree.expressions[0]))
        sought = Binder(self.queries.source, self.outer).bind(value)
        try:
            found = resolve_call("array_contains", [array, sought])
        except QueryError:
            start, end = place(value)
            problem = f"IN compares {sought.type} and {array.type.element}"  # type: ignore[attr-defined]
            raise QueryError(problem, instead="CAST one of them").located(
                self.queries.source.text, start, end - start
            ) from None
        empty = resolve_call("eq", [resolve_call("cardinality", [array]), Literal(INT, 0)])
        return Case(BOOLEAN, ((empty, Literal(BOOLEAN, False)),), found), relation

    def value(self) -> tuple[Expression, Relation]:
        """COUNT, MIN or MAX of the elements."""
        item = strip_alias(self.tree.expressions[0])
        name = call_name(item) if isinstance(item, exp.Anonymous) else ""
        if name not in ("count", *_OF_ARRAYS) or self.tree.args.get("distinct") or item.find(exp.Distinct):
            problem = "a value of the elements of a row's array that is no COUNT, MIN or MAX is not supported"
            raise self._error(problem, item, _GROUPED)
        (argument,) = item.expressions
        if name != "count":
            array, relation = self._gather(argument)
            return resolve_call(_OF_ARRAYS[name], [array]), relation
        array, relation = self._gather(None, None if isinstance(argument, exp.Star) else argument)
        return cast_to(resolve_call("cardinality", [array]), BIGINT), relation

    def _gather(self, item: exp.Expr | None, present: exp.Expr | None = None) -> tuple[Expression, Relation]:
        """The array of what it selects, TRUE for each element without an item, of those where `present` is not NULL."""
        source, unnest = self.queries.source, self.tree.args["from_"].this
        both = bind_unnest(source, exp.Join(this=unnest.copy()), self.outer)
        node = both.node
        assert isinstance(node, Unnest)
        if node.ordinality:
            raise self._error("WITH ORDINALITY in a subquery of a row is not supported", unnest, _GROUPED)
        inner = replace(both, columns=both.columns[len(self.outer.columns) :])
        binder = Correlated(self.queries, inner, replace(self.outer, node=node))
        where = self.tree.args.get("where")
        parts = conjuncts_of(where.this) if where else []
        nested = next(filter(has_subquery, parts), None)
        if nested is not None:
            raise self._error("a subquery inside one over elements of an array is not supported", nested, _GROUPED)
        conditions = [binder.condition(part, "WHERE") for part in parts]
        if present is not None:
            conditions.append(resolve_call("is_not_null", [binder.bind(present)]))
        value = Literal(BOOLEAN, True) if item is None else binder.bind(item)
        name = fresh("$array", node.schema.names)
        condition = conjunction(conditions) if conditions else None
        at = NodeLocation(place(self.tree)[0])
        made = GatherElements(node.input, node.array, node.names, condition, value, name, written=at)
        return Column(made.schema[name].type, name), replace(self.outer, node=made)

    def _error(self, problem: str, node: exp.Expr, instead: str) -> QueryError:
        return self.queries.source.error(problem, place(node), instead, NotSupported)
