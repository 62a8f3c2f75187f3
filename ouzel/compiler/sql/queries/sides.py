"""BROADCAST: which table of a join each task reads whole for itself, as a hint says."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches

from ouzel.compiler.plan import SIDE_KINDS, JoinKind, Node, Union, describe_moving, walk
from ouzel.compiler.sql.queries.scope import Relation
from ouzel.compiler.sql.syntax.shells import read_hints
from ouzel.compiler.sql.syntax.source import QueryText, Span
from ouzel.compiler.sql.syntax.statements import NAMING, HintPair
from ouzel.errors import NotSupported, QueryError

LEAVE_OUT = "leave the hint out, and rows of both tables go to the task of their key"


class SideHints:
    """The BROADCAST hints that stand in one statement; `used` are the places of those that chose how a join is made."""

    def __init__(self, source: QueryText, scope: Span) -> None:
        self.source = source
        self._pairs = [p for p in read_hints(source) if p.hint in NAMING and scope[0] <= p.span[0] < scope[1]]
        self.used: set[Span] = set()

    def choose(self, left: Relation, right: Relation, kind: JoinKind) -> Relation | None:
        """That of the inputs of a join which each task reads for itself; `left` is the one whose rows stay in a LEFT JOIN.

        Raises:
            NotSupported: it is no table at rest, or the join is of a kind that needs all its rows in one place.
        """
        for relation in (right, left):
            hint = self._hint(relation)
            if hint is None or (relation is left and _has_join(relation.node)):
                continue
            self.used.add(hint.span)
            why = describe_moving(relation.node)
            if why:
                raise self._refuse(hint, f"each task would read it whole, and {why}", LEAVE_OUT)
            if kind not in SIDE_KINDS or (relation is left and kind is not JoinKind.INNER):
                why = f"of a {kind.value.upper()} JOIN no task knows which of its rows have met nothing in any other"
                raise self._refuse(
                    hint, why, "write JOIN or LEFT JOIN, with the table on the right, or leave the hint out"
                )
            return relation
        return None

    def _hint(self, relation: Relation) -> HintPair | None:
        names = {column.table.lower() for column in relation.columns}
        return next((pair for pair in self._pairs if pair.name.lower() in names and not pair.value), None)

    def _refuse(self, hint: HintPair, why: str, instead: str) -> QueryError:
        return self.source.error(f"{hint.hint}({hint.name}) is not supported: {why}", hint.span, instead, NotSupported)


def refuse_unused_side(source: QueryText, hint: HintPair, tables: Mapping[str, str]) -> QueryError:
    """The error of a hint that names no table that is joined; `tables` are those of its query by their aliases."""
    if not hint.name or hint.value:
        return source.error(f"the hint {hint.hint} names no table", hint.span, f"write {hint.hint}(table)")
    alias = next((alias for alias, table in tables.items() if table.lower() == hint.name.lower()), "")
    near = get_close_matches(hint.name.lower(), [name.lower() for pair in tables.items() for name in pair], 1)
    alias = alias or next((a for a, table in tables.items() if near and near[0] in (a.lower(), table.lower())), "")
    return source.error(
        f"{hint.hint}({hint.name}) names no table that is joined in this statement",
        hint.span,
        f"write {hint.hint}({alias})" if alias else "name a table of the JOIN, by its alias if it has one",
    )


def _has_join(node: Node) -> bool:
    return any(len(below.inputs) > 1 and not isinstance(below, Union) for below in walk(node))
