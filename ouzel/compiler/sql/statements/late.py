"""LATE INTO: the rows that a statement drops as late go into a table, column by column of the same name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Set
from dataclasses import replace

from ouzel.compiler.coercion import can_coerce, cast_to
from ouzel.compiler.expressions import Column, Expression, Literal
from ouzel.compiler.plan import DropsLate, LateRows, Node, Project, Sink, Union, walk
from ouzel.compiler.sql.queries.scope import Relation, pick, relation_of
from ouzel.compiler.sql.statements.sinks import table_sink
from ouzel.compiler.sql.statements.tables import Table
from ouzel.compiler.sql.syntax.source import QueryText
from ouzel.compiler.sql.syntax.statements import Insert, Name
from ouzel.compiler.types import NULL, Field
from ouzel.errors import QueryError


class LateTable:
    """The table of a statement's LATE INTO.

    Each node of the statement that drops late rows shows those of its columns that the table has; of those that it has not NULL is
    written. A row of several windows comes once for each that it is too late for.
    """

    def __init__(self, source: QueryText, name: Name, table: Table) -> None:
        self.source, self.name, self.table = source, name, table

    def take(self, relation: Relation, others: Iterable[Relation]) -> tuple[Relation, Sink]:
        """The statement's relation, which now shows what it drops, and the sink of that; `others` are no part of the statement.

        Raises:
            QueryError: no row can be late, or the late rows do not fit the table.
        """
        known = {id(node) for other in others for node in walk(other.node)}
        droppers = [node for node in walk(relation.node) if node.drops_late and id(node) not in known]
        if not droppers:
            raise self.source.error(
                "LATE INTO has nothing to take: no row comes too late for this query",
                self.name.span,
                "remove it, or write it where windows close: GROUP BY window_start, window_end of TUMBLE(...)",
            )
        self._check_columns(droppers)
        made: dict[int, Node] = {}
        node = self._show(relation.node, {id(dropper) for dropper in droppers}, made)
        late = [rows for dropper in droppers for rows in self._rows(made[id(dropper)])]
        statement = Insert(self.name, (), ())
        shown = relation_of(Union(tuple(late)) if len(late) > 1 else late[0])
        return replace(relation, node=node), table_sink(self.source, statement, self.table, shown)

    def _show(self, node: Node, droppers: Set[int], made: dict[int, Node]) -> Node:
        """The node whose droppers below and itself have the table's columns in `late`."""
        if id(node) in made:
            return made[id(node)]
        inputs = tuple(self._show(below, droppers, made) for below in node.inputs)
        same = all(new is old for new, old in zip(inputs, node.inputs, strict=True))
        new = node if same else node.with_inputs(inputs)
        if id(node) in droppers:
            assert isinstance(new, DropsLate), f"{type(node).__name__} drops late rows, and has no place for them"
            new = replace(new, late=tuple(tuple(self._find_columns(below).values()) for below in inputs))
        made[id(node)] = new
        return new

    def _find_columns(self, below: Node) -> dict[str, str]:
        """The table's columns that these rows have, each with its name there."""
        names = _written_names(below)
        found = {field.name: pick(Name(field.name, False, self.name.span), names) for field in self.table.writable}
        return {name: below.schema.names[places[0]] for name, places in found.items() if places}

    def _check_columns(self, droppers: Iterable[Node]) -> None:
        inputs = [below for dropper in droppers for below in dropper.inputs]
        there = [name for below in inputs for name in _written_names(below) if not name.startswith("$")]
        found = {name for below in inputs for name in self._find_columns(below)}
        missing = [name for name in self.table.writable.names if name not in found]
        if missing:
            raise self.source.error(
                f"{self.table.name}.{missing[0]} is no column of the rows that may be late",
                self.name.span,
                f"they have {', '.join(dict.fromkeys(there))}",
            )

    def _rows(self, dropper: Node) -> list[Node]:
        rows: list[Node] = []
        for port, below in enumerate(dropper.inputs):
            if found := self._find_columns(below):
                late = LateRows(dropper, port, tuple(found.items()))
                rows.append(Project(late, tuple((one.name, self._value(late, one)) for one in self.table.writable)))
        return rows

    def _value(self, late: LateRows, field: Field) -> Expression:
        """The column, in the table's type."""
        names = late.schema.names
        value = Column(late.schema[field.name].type, field.name) if field.name in names else Literal(NULL, None)
        if not can_coerce(value.type, field.type):
            raise self._refuse_type(field, value)
        if not field.nullable and field.name not in names:
            raise self.source.error(
                f"{self.table.name}.{field.name} is NOT NULL, and some of the rows that may be late have no such column",
                self.name.span,
                "declare it without NOT NULL",
            )
        return cast_to(value, field.type)

    def _refuse_type(self, field: Field, value: Expression) -> QueryError:
        return self.source.error(
            f"{field.name} of late rows is {value.type} and {self.table.name}.{field.name} is {field.type}",
            self.name.span,
            f"declare {field.name} {value.type}",
        )


def _written_names(below: Node) -> list[str]:
    """What the statement calls these columns; one of a join whose name the other input has too bears a number (see joins.apart)."""
    names = list(below.schema.names)
    for place, (name, value) in enumerate(below.items if isinstance(below, Project) else ()):
        if isinstance(value, Column) and re.fullmatch(rf"{re.escape(value.name)}\d+", name):
            names[place] = value.name
    return names
