"""Arrays as sets, and with one element more."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ouzel.compiler.coercion import common_type
from ouzel.compiler.functions.collection import batch_lists, concat_lists, drop_repeated, make_array, of_array
from ouzel.compiler.functions.lowering import plain, spark_call, with_errors
from ouzel.compiler.functions.registry import Function, Lowered, Signature
from ouzel.compiler.functions.signatures import alike, is_orderable
from ouzel.compiler.types import ArrayType, DataType, RowType

if TYPE_CHECKING:
    import polars as pl


def _comparable(kind: DataType) -> bool:
    return (
        isinstance(kind, ArrayType) and is_orderable(kind.element) and not isinstance(kind.element, ArrayType | RowType)
    )


def _lower_sharing(keep: bool) -> Callable[[pl.Expr, pl.Expr], pl.Expr]:
    """The distinct elements of the first list that are in the second, or that are not; NULLs are equal."""

    def batch(rows: pl.DataFrame) -> pl.Series:
        import polars as pl

        lists = rows.with_row_index("row")
        one, other = (
            lists.select("row", item=name).filter(pl.col("item").list.len() > 0).explode("item") for name in ("0", "1")
        )
        found = one.join(
            other, on=["row", "item"], how="semi" if keep else "anti", nulls_equal=True, maintain_order="left"
        )
        kept = found.unique(maintain_order=True).group_by("row", maintain_order=True).agg("item")
        answer = lists.join(kept, on="row", how="left", maintain_order="left")
        known = pl.col("0").is_not_null() & pl.col("1").is_not_null()
        return answer.select(pl.when(known).then(pl.coalesce("item", pl.col("0").list.head(0))).alias("item"))["item"]

    return lambda one, other: batch_lists(one, other, batch)


def _resolve_adding(array: ArrayType, rest: Sequence[DataType]) -> Signature | None:
    kind = common_type(array.element, rest[0]) if len(rest) == 1 else None
    return Signature((ArrayType(kind), kind), ArrayType(kind)) if kind else None


def _lower_adding(before: bool) -> Callable[[Sequence[Lowered], Signature], Lowered]:
    def lower(arguments: Sequence[Lowered], signature: Signature) -> Lowered:
        array, item = arguments
        single = make_array([Lowered(item.value)], Signature(signature.parameters[1:], signature.result)).value
        return with_errors(
            concat_lists(single, array.value) if before else concat_lists(array.value, single), arguments
        )

    return lower


FUNCTIONS: tuple[Function, ...] = (
    Function(
        "array_append", of_array(_resolve_adding), _lower_adding(before=False), spark_call("array_append"),
        "With one more element at the end.",
        "ARRAY_APPEND(array, item)", null_in_null_out=False,
    ),
    Function(
        "array_prepend", of_array(_resolve_adding), _lower_adding(before=True), spark_call("array_prepend"),
        "With one more element in front.",
        "ARRAY_PREPEND(array, item)", null_in_null_out=False,
    ),
    Function(
        "array_union", alike(2, 2, None, _comparable), plain(lambda a, b: drop_repeated(concat_lists(a, b))), spark_call("array_union"),
        "The elements of both arrays, each once.", "ARRAY_UNION(a, b)",
    ),
    Function(
        "array_intersect", alike(2, 2, None, _comparable), plain(_lower_sharing(keep=True)), spark_call("array_intersect"),
        "The elements that are in both arrays, each once.", "ARRAY_INTERSECT(a, b)",
    ),
    Function(
        "array_except", alike(2, 2, None, _comparable), plain(_lower_sharing(keep=False)), spark_call("array_except"),
        "The elements of the first array that are not in the second, each once.", "ARRAY_EXCEPT(a, b)",
    ),
)  # fmt: skip
