"""What stands in brackets behind a value: the place of an element, counted from 1, the key of a map, or what others write there."""

from __future__ import annotations

from sqlglot import exp

from ouzel.compiler.coercion import can_coerce, is_numeric
from ouzel.compiler.expressions import Expression, Literal
from ouzel.compiler.sql.syntax.places import place
from ouzel.compiler.sql.syntax.source import QueryText
from ouzel.compiler.types import INT, VARCHAR, ArrayType, RowType


def check_index(source: QueryText, node: exp.Expr, whole: Expression, index: Expression) -> None:
    """See that an ARRAY has an INT of at least 1 in its brackets, and that a ROW has none.

    Raises:
        QueryError: it is not so.
    """
    written, at = source.text[slice(*place(node.expressions[0]))], place(node.expressions[0])
    if isinstance(whole.type, RowType):
        _refuse_field(source, node, whole, index)
    if not isinstance(whole.type, ArrayType):
        return
    if is_numeric(index.type) and not can_coerce(index.type, INT):
        problem = f"the index of an array is an INT, and this is {index.type}"
        raise source.error(problem, at, f"write CAST({written} AS INT)")
    if isinstance(index, Literal) and isinstance(index.value, int) and index.value < 1:
        shown = source.text[slice(*place(node.this))]
        advice = f"ELEMENT_AT({shown}, {index.value}) to count from the end" if index.value else f"{shown}[1]"
        problem = f"an array has no element {index.value}: elements are counted from 1"
        raise source.error(problem, at, f"write {advice}")


def _refuse_field(source: QueryText, node: exp.Expr, whole: Expression, index: Expression) -> None:
    """`row['field']` is a field in Spark and in pandas."""
    assert isinstance(whole.type, RowType)
    shown, names = source.text[slice(*place(node.this))], [name for name, _ in whole.type.fields]
    name = index.value if isinstance(index, Literal) and isinstance(index.value, str) else names[0]
    if isinstance(index, Literal) and isinstance(index.value, int) and 0 <= index.value <= len(names):
        name = names[max(0, index.value - 1)]
    problem = f"{shown} is a ROW, and brackets are of an ARRAY or a MAP"
    raise source.error(problem, place(node.expressions[0]), f"write {shown}.{name}")


def refuse_letters(source: QueryText, node: exp.Expr) -> None:
    """`text[2]` and `text[1:3]` are letters elsewhere.

    Raises:
        QueryError: always.
    """
    text, index = source.text[slice(*place(node.this))], node.expressions[0]
    parts = [index.this, index.expression] if isinstance(index, exp.Slice) else [index]
    shown = [source.text[slice(*place(part))] for part in parts if part is not None]
    start, end = (*shown, "1", "1")[:2]
    length = str(int(end) - int(start) + 1) if len(shown) > 1 and start.isdigit() and end.isdigit() else "1"
    problem = f"{text} is {VARCHAR}, and brackets are of an ARRAY or a MAP"
    raise source.error(problem, place(index), f"write SUBSTRING({text}, {start}, {length})")
