"""ARRAY, MAP and ROW. Positions count from 1, negative ones from the end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ouzel.compiler.coercion import can_coerce, common_type
from ouzel.compiler.functions.lowering import (
    call_on_frame,
    constant_of,
    map_rows,
    parenthesize,
    plain,
    spark_builtin,
    spark_call,
    strict,
    where_present,
    with_errors,
)
from ouzel.compiler.functions.registry import Function, Lowered, Signature, TypeRule
from ouzel.compiler.functions.signatures import alike, is_orderable, is_sortable, meeting_type, overloads
from ouzel.compiler.types import (
    BIGINT,
    BOOLEAN,
    INT,
    INTERVAL_MONTHS,
    NULL,
    VARCHAR,
    ArrayType,
    DataType,
    IntegerType,
    MapType,
    NullType,
    RowType,
    to_polars,
)  # fmt: skip

if TYPE_CHECKING:
    import polars as pl

Make = Callable[[ArrayType, Sequence[DataType]], Signature | None]


def of_array(make: Make) -> TypeRule:
    """A rule whose first argument is an ARRAY."""

    def resolve(types: Sequence[DataType]) -> Signature | None:
        return make(types[0], types[1:]) if types and isinstance(types[0], ArrayType) else None

    return resolve


def _alone(result: DataType | None = None, ordered: bool = False) -> TypeRule:
    def make(array: ArrayType, rest: Sequence[DataType]) -> Signature | None:
        if rest or (ordered and not is_orderable(array.element)):
            return None
        return Signature((array,), result or array)

    return of_array(make)


def _with_element(result: DataType | None = None) -> TypeRule:
    """An array and an element of a type that both meet in; only elements that can be compared."""

    def make(array: ArrayType, rest: Sequence[DataType]) -> Signature | None:
        kind = common_type(array.element, rest[0]) if len(rest) == 1 else None
        if kind is None or not is_orderable(kind) or rest[0] == NullType():
            return None
        return Signature((ArrayType(kind), kind), result or ArrayType(kind))

    return of_array(make)


def _resolve_size(types: Sequence[DataType]) -> Signature | None:
    return Signature(tuple(types), INT) if len(types) == 1 and isinstance(types[0], ArrayType | MapType) else None


def _element_types(types: Sequence[DataType]) -> Signature | None:
    match types:
        case [ArrayType(element), index] if can_coerce(index, INT):
            return Signature((types[0], INT), element)
        case [MapType(key, value), sought] if can_coerce(sought, key) and is_orderable(key):
            return Signature((types[0], key), value)
    return None


def _element_at(arguments: Sequence[Lowered], signature: Signature) -> Lowered:
    import polars as pl

    whole, place = arguments[0].value, arguments[1].value
    if isinstance(signature.parameters[0], MapType):
        return with_errors(_look_up(whole, place, to_polars(signature.result)), arguments)
    size = whole.list.len().cast(pl.Int64)
    index = place.cast(pl.Int64)
    value = whole.list.get(pl.when(index > 0).then(index - 1).otherwise(index), null_on_oob=True)
    outside = where_present((index == 0) | (index.abs() > size), arguments)
    return with_errors(value, arguments, outside, "array index out of bounds")


def _item_types(types: Sequence[DataType]) -> Signature | None:
    match types:
        case [ArrayType(element), index] if can_coerce(index, INT):
            return Signature((types[0], INT), element)
    return None


def _item(array: pl.Expr, index: pl.Expr) -> pl.Expr:
    import polars as pl

    return array.list.get(pl.when(index > 0).then(index.cast(pl.Int64) - 1), null_on_oob=True)


def _spark_item(arguments: Sequence[str], signature: Signature) -> str:
    array, index = arguments
    constant = constant_of(index)
    from_zero = f"F.lit({int(constant) - 1})" if constant.isdigit() else f"F.try_subtract({index}, F.lit(1))"
    return f"F.get({array}, {from_zero})"


def _look_up(entries: pl.Expr, key: pl.Expr, kind: pl.DataType) -> pl.Expr:
    return call_on_frame((entries, key), lambda rows: _find_in_maps(rows, kind), kind)


def _find_in_maps(rows: pl.DataFrame, kind: pl.DataType) -> pl.Series:
    """Explode the entries, keep those with the key, and put each value back in its row."""
    import polars as pl

    numbered = rows.with_row_index("row")
    entries = numbered.filter(pl.col("0").list.len() > 0).explode("0")
    entry = pl.col("0").struct
    found = entries.filter(entry.field("key") == pl.col("1")).select("row", value=entry.field("value"))
    return numbered.select("row").join(found, on="row", how="left", maintain_order="left")["value"].cast(kind)


def _array_types(types: Sequence[DataType]) -> Signature | None:
    kind = meeting_type(types) if types else NULL
    return Signature((kind,) * len(types), ArrayType(kind)) if kind else None


def make_array(arguments: Sequence[Lowered], signature: Signature) -> Lowered:
    """An array of the arguments."""
    import polars as pl

    kind = to_polars(signature.result)
    values = [argument.value for argument in arguments]
    if not values:
        return Lowered(pl.lit([], dtype=kind))
    if isinstance(signature.parameters[0], ArrayType | MapType):  # concat_list would join the lists themselves
        boxes = pl.concat_list([pl.struct(item=value) for value in values])
        return strict(arguments, boxes.list.eval(pl.element().struct.field("item")).cast(kind))
    return strict(arguments, pl.concat_list(values).cast(kind))


def _spark_array(arguments: Sequence[str], signature: Signature) -> str:
    """An array of nothing holds what may be NULL, or Spark hands out no frame with it."""
    return spark_call("array")(arguments, signature) if arguments else 'F.array().cast("array<void>")'


def _contains(array: pl.Expr, item: pl.Expr) -> pl.Expr:
    import polars as pl

    found = array.list.contains(item, nulls_equal=False)
    unknown = array.list.eval(pl.element().is_null()).list.any()
    answer = pl.when(found).then(True).when(unknown).then(None).otherwise(False)
    return pl.when(array.is_not_null() & item.is_not_null()).then(answer)


def _position(array: pl.Expr, item: pl.Expr) -> pl.Expr:
    return call_on_frame((array, item), _find_in_lists, to_polars(BIGINT))


def _find_in_lists(rows: pl.DataFrame) -> pl.Series:
    import polars as pl

    numbered = rows.with_row_index("row").with_columns(at=pl.int_ranges(1, pl.col("0").list.len().cast(pl.Int64) + 1))
    hits = numbered.filter(pl.col("0").list.len() > 0).explode("0", "at").filter(pl.col("0") == pl.col("1"))
    first = hits.group_by("row").agg(pl.col("at").min())
    answer = numbered.select("row", "0", "1").join(first, on="row", how="left", maintain_order="left")
    known = pl.col("0").is_not_null() & pl.col("1").is_not_null()
    return answer.select(pl.when(known).then(pl.col("at").fill_null(0)).alias("at"))["at"].cast(pl.Int64)


def _extreme(largest: bool) -> Callable[[Sequence[Lowered], Signature], Lowered]:
    def lower(arguments: Sequence[Lowered], signature: Signature) -> Lowered:
        import polars as pl

        array = arguments[0].value
        ordered = array.list.eval(pl.element().drop_nulls().sort(descending=largest))
        return with_errors(ordered.list.first(), arguments)

    return lower


def _extreme_types(array: ArrayType, rest: Sequence[DataType]) -> Signature | None:
    return Signature((array,), array.element) if not rest and is_sortable(array.element) else None


def _sort_types(array: ArrayType, rest: Sequence[DataType]) -> Signature | None:
    return Signature((array,), array) if not rest and is_sortable(array.element) else None


def _join(array: pl.Expr, separator: pl.Expr, missing: pl.Expr | None = None) -> pl.Expr:
    import polars as pl

    def batch(rows: pl.DataFrame) -> pl.Series:
        given = rows.get_columns()
        numbered = rows.with_row_index("row").filter(pl.col("0").list.len() > 0).explode("0")
        if missing is not None:
            numbered = numbered.with_columns(pl.col("0").fill_null(pl.col("2")))
        piece = pl.when(pl.col("0").is_not_null()).then(pl.col("1") + pl.col("0"))
        joined = numbered.group_by("row").agg(piece.drop_nulls().str.join("").alias("text"), pl.col("1").first())
        text = joined.select("row", pl.col("text").str.slice(pl.col("1").str.len_chars()).alias("text"))
        whole = rows.with_row_index("row").select("row").join(text, on="row", how="left", maintain_order="left")["text"]
        unknown = given[0].is_null()
        for column in given[1:]:
            unknown = unknown | column.is_null()
        return whole.fill_null("").set(unknown, None)

    arguments = (array, separator) if missing is None else (array, separator, missing)
    return call_on_frame(arguments, batch, pl.String())


def _slice_types(array: ArrayType, rest: Sequence[DataType]) -> Signature | None:
    whole = len(rest) == 2 and all(can_coerce(kind, INT) for kind in rest)
    return Signature((array, INT, INT), array) if whole else None


def _slice(arguments: Sequence[Lowered], signature: Signature) -> Lowered:
    import polars as pl

    array, start, length = (argument.value for argument in arguments)
    size = array.list.len().cast(pl.Int64)
    place = start.cast(pl.Int64)
    first = pl.when(place > 0).then(place - 1).otherwise(size + place)
    taken = array.list.slice(first.clip(lower_bound=0), length.clip(lower_bound=0))
    inside = (first >= 0) & (first < size)
    known = array.is_not_null() & start.is_not_null() & length.is_not_null()
    value = pl.when(known).then(pl.when(inside).then(taken).otherwise(array.list.head(0)))
    wrong = where_present((start == 0) | (length < 0), arguments)
    return with_errors(value, arguments, wrong, "SLICE from 0 or of negative length")


def _sequence(arguments: Sequence[Lowered], signature: Signature) -> Lowered:
    both = map_rows([argument.value for argument in arguments], steps, to_polars(signature.result))
    return with_errors(
        both.struct.field("value"), arguments, both.struct.field("failed"), "SEQUENCE with a step that never arrives"
    )


LONGEST_SEQUENCE = 1_000_000


def steps(start: int, stop: int, step: int | None = None) -> list[int]:
    """The numbers from start to stop, both included. Raises ValueError if the step leads away, or for more than a million numbers."""
    stride = step if step is not None else (1 if stop >= start else -1)
    if (stride == 0 and start != stop) or (stride > 0 and start > stop) or (stride < 0 and start < stop):
        raise ValueError("boundaries")
    if stride == 0:
        return [start]
    if (stop - start) // stride >= LONGEST_SEQUENCE:
        raise ValueError("too long")
    return list(range(start, stop + (1 if stride > 0 else -1), stride))


def _sequence_types(types: Sequence[DataType]) -> Signature | None:
    found = alike(2, 3, None, lambda kind: isinstance(kind, IntegerType))(types)
    return Signature(found.parameters, ArrayType(found.result)) if found else None


def _arrays(least: int, most: int) -> TypeRule:
    return alike(least, most, None, lambda kind: isinstance(kind, ArrayType))


def concat_lists(*arrays: pl.Expr) -> pl.Expr:
    """The elements of all lists, in order; NULL if one of them is."""
    import polars as pl

    known = pl.all_horizontal(*(array.is_not_null() for array in arrays))
    return pl.when(known).then(pl.concat_list(list(arrays)))


def _map_types(types: Sequence[DataType]) -> Signature | None:
    if not types:
        return Signature((), MapType(NULL, NULL))
    if len(types) % 2:
        return None
    key, value = meeting_type(types[::2]), meeting_type(types[1::2])
    if key is None or value is None or not is_orderable(key):
        return None
    return Signature((key, value) * (len(types) // 2), MapType(key, value))


def _spark_map(arguments: Sequence[str], signature: Signature) -> str:
    """A map of nothing holds what may be NULL, as an array of nothing does."""
    return spark_call("create_map")(arguments, signature) if arguments else 'F.create_map().cast("map<void,void>")'


def _map(arguments: Sequence[Lowered], signature: Signature) -> Lowered:
    import polars as pl

    if not arguments:
        return Lowered(pl.lit([], dtype=to_polars(signature.result)))
    keys, values = [a.value for a in arguments[::2]], [a.value for a in arguments[1::2]]
    entries = [pl.struct(key=key, value=value) for key, value in zip(keys, values, strict=True)]
    lowered = strict(arguments, pl.concat_list(entries).cast(to_polars(signature.result)))
    bad = pl.any_horizontal(*(key.is_null() for key in keys))
    for number, key in enumerate(keys):
        for earlier in keys[:number]:
            bad = bad | (earlier == key).fill_null(False)
    error = bad if lowered.error is None else lowered.error | bad
    return Lowered(lowered.value, error, "a MAP with a key that is NULL or comes twice")


def _map_part(name: str) -> TypeRule:
    def resolve(types: Sequence[DataType]) -> Signature | None:
        match types:
            case [MapType(key, value)]:
                return Signature(tuple(types), ArrayType(key if name == "key" else value))
        return None

    return resolve


def _field_of_entries(name: str) -> Callable[[pl.Expr], pl.Expr]:
    def build(value: pl.Expr) -> pl.Expr:
        import polars as pl

        return value.list.eval(pl.element().struct.field(name))

    return build


def _contains_key_types(types: Sequence[DataType]) -> Signature | None:
    match types:
        case [MapType(key, _), sought] if can_coerce(sought, key) and sought != NullType() and is_orderable(key):
            return Signature((types[0], key), BOOLEAN)
    return None


def _row_types(types: Sequence[DataType]) -> Signature | None:
    fields = tuple((f"f{number}", kind) for number, kind in enumerate(types))
    return Signature(tuple(types), RowType(fields)) if types and INTERVAL_MONTHS not in types else None


def _row(arguments: Sequence[Lowered], signature: Signature) -> Lowered:
    import polars as pl

    return strict(
        arguments, pl.struct(*(argument.value.alias(f"f{number}") for number, argument in enumerate(arguments)))
    )


def _spark_row(arguments: Sequence[str], signature: Signature) -> str:
    fields = (f'{parenthesize(text)}.alias("f{number}")' for number, text in enumerate(arguments))
    return f"F.struct({', '.join(fields)})"


def drop_repeated(array: pl.Expr) -> pl.Expr:
    """Each element once."""
    import polars as pl

    return array.list.eval(pl.element().unique(maintain_order=True))


def _sort(array: pl.Expr) -> pl.Expr:
    import polars as pl

    return array.list.eval(pl.element().sort(nulls_last=True))


def _without(array: pl.Expr, item: pl.Expr) -> pl.Expr:
    def batch(rows: pl.DataFrame) -> pl.Series:
        import polars as pl

        numbered = rows.with_row_index("row")
        kept = numbered.filter(pl.col("0").list.len() > 0).explode("0")
        kept = (
            kept.filter((pl.col("0") != pl.col("1")).fill_null(True))
            .group_by("row", maintain_order=True)
            .agg(pl.col("0").alias("kept"))
        )
        answer = numbered.join(kept, on="row", how="left", maintain_order="left")
        known = pl.col("0").is_not_null() & pl.col("1").is_not_null()
        return answer.select(pl.when(known).then(pl.coalesce("kept", pl.col("0").list.head(0))).alias("kept"))["kept"]

    return batch_lists(array, item, batch)


def batch_lists(array: pl.Expr, item: pl.Expr, batch: Callable[[pl.DataFrame], pl.Series]) -> pl.Expr:
    """What `batch` makes of lists and items (columns "0" and "1"): lists of the same type."""
    import polars as pl

    row = pl.struct(array.alias("0"), item.alias("1"))
    constant = not (array.meta.root_names() or item.meta.root_names())
    return row.map_batches(lambda rows: batch(rows.struct.unnest()), is_elementwise=True, returns_scalar=constant)


FUNCTIONS: tuple[Function, ...] = (
    Function(
        "cardinality", _resolve_size, plain(lambda a: a.list.len().cast(to_polars(INT))), spark_call("size"),
        "Number of elements or entries.", "CARDINALITY(a)", aliases=("size",),
    ),
    Function(
        "element_at", _element_types, _element_at, spark_builtin("element_at"),
        "An element by position (beyond the array fails), or a value by key (NULL if there is none).", "ELEMENT_AT(a, i), map[key]",
        null_in_null_out=True,
    ),
    Function(
        "item", _item_types, plain(_item), _spark_item, "An element by position; NULL outside the array.", "a[i]",
    ),
    Function(
        "array", _array_types, make_array, _spark_array, "An array of the arguments. ARRAY[] takes its type from what it meets.",
        "ARRAY[a, b, ...]", null_in_null_out=False,
    ),
    Function(
        "array_contains", _with_element(BOOLEAN), plain(_contains), spark_call("array_contains"),
        "Whether an element is equal; NULL if none is and one is NULL.", "ARRAY_CONTAINS(array, item)",
    ),
    Function(
        "array_position", _with_element(BIGINT), plain(_position), spark_call("array_position"),
        "Position of the first equal element; 0 if there is none.", "ARRAY_POSITION(array, item)",
    ),
    Function(
        "array_distinct", _alone(ordered=True), plain(drop_repeated), spark_call("array_distinct"), "Without repeated elements.",
        "ARRAY_DISTINCT(array)",
    ),
    Function(
        "array_max", of_array(_extreme_types), _extreme(True), spark_call("array_max"),
        "The greatest element; NULLs are passed over.", "ARRAY_MAX(array)",
    ),
    Function(
        "array_min", of_array(_extreme_types), _extreme(False), spark_call("array_min"),
        "The least element; NULLs are passed over.", "ARRAY_MIN(array)",
    ),
    Function("array_sort", of_array(_sort_types), plain(_sort), spark_call("array_sort"), "Ascending, NULLs last.", "ARRAY_SORT(array)"),
    Function(
        "array_reverse", _alone(), plain(lambda a: a.list.reverse()), spark_call("reverse"), "In the opposite order.",
        "ARRAY_REVERSE(array)",
    ),
    Function(
        "array_remove", _with_element(), plain(_without), spark_call("array_remove"), "Without the equal elements.",
        "ARRAY_REMOVE(array, item)",
    ),
    Function(
        "array_join", overloads(((ArrayType(VARCHAR), VARCHAR), VARCHAR), ((ArrayType(VARCHAR), VARCHAR, VARCHAR), VARCHAR)),
        plain(_join), spark_builtin("array_join"), "The elements as one text; NULLs are passed over or replaced.",
        "ARRAY_JOIN(array, separator [, null])",
    ),
    Function(
        "array_concat", _arrays(2, 100), plain(concat_lists), spark_call("concat"), "The elements of all arrays, in order.",
        "ARRAY_CONCAT(a, b, ...)",
    ),
    Function(
        "slice",
        of_array(_slice_types),
        _slice, spark_call("slice"), "Some elements from a position on; position 0 or a negative length fails.",
        "SLICE(array, start, length)", aliases=("array_slice",),
    ),
    Function(
        "sequence", _sequence_types, _sequence, spark_call("sequence"),
        "The whole numbers from one to another, both included; a step that leads away fails.", "SEQUENCE(start, stop [, step])",
    ),
    Function(
        "map", _map_types, _map, _spark_map, "A map of keys and values. A key that is NULL or comes twice fails.",
        "MAP[key, value, ...]", null_in_null_out=False,
    ),
    Function("map_keys", _map_part("key"), plain(_field_of_entries("key")), spark_call("map_keys"), "The keys.", "MAP_KEYS(map)"),
    Function(
        "map_values", _map_part("value"), plain(_field_of_entries("value")), spark_call("map_values"), "The values.",
        "MAP_VALUES(map)",
    ),
    Function(
        "map_contains_key", _contains_key_types, plain(lambda a, k: _position(_field_of_entries("key")(a), k) > 0),
        spark_call("map_contains_key"), "Whether the map has a key.", "MAP_CONTAINS_KEY(map, key)",
    ),
    Function(
        "row", _row_types, _row, _spark_row, "A row of the arguments, its fields named f0, f1, ...", "ROW(a, b, ...)",
        null_in_null_out=False,
    ),
)  # fmt: skip
