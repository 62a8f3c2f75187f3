"""Project, Filter, Watermark and Unnest."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

import polars as pl
import pytest

from ouzel.compiler.expressions import Cast, Column, Literal
from ouzel.compiler.functions import lowering
from ouzel.compiler.functions.resolution import resolve_call
from ouzel.compiler.plan import WEIGHT, Filter, Project, Scan, Unnest, Watermark
from ouzel.compiler.types import BIGINT, DOUBLE, INT, INTERVAL, TIMESTAMP, VARCHAR, ArrayType, MapType, RowType
from ouzel.errors import PlanError
from ouzel.planner.settings import Settings
from ouzel.planner.topology import Output
from ouzel.reconcile.explaining.exclusion import ExcludeLateRows
from ouzel.runtime.operators.build import build_chain
from ouzel.runtime.operators.sharing import share_parts
from tests.operators.nodes import chain, group, table


def two() -> tuple[Scan, Column, Column]:
    return table(a=BIGINT, b=BIGINT), Column(BIGINT, "a"), Column(BIGINT, "b")


def test_a_projection_computes_renames_and_keeps_the_weight_last() -> None:
    source, a, b = two()
    made = chain(Project(source, (("b", a), ("s", resolve_call("add", [a, b])))))
    out = made.process(pl.DataFrame({"a": [1, 2], "b": [10, 20], WEIGHT: [1, -1]}))
    assert out is not None
    assert (out.columns, out.rows()) == (["b", "s", WEIGHT], [(1, 11, 1), (2, 22, -1)])
    out = chain(Project(source, (("b", a), ("a", b)))).process(pl.DataFrame({"a": [1], "b": [10]}))
    assert out is not None
    assert (out.columns, out.rows()) == (["b", "a"], [(1, 10)])


def test_constants_get_the_height_of_the_frame() -> None:
    source, _, _ = two()
    made = chain(Project(source, (("one", Literal(INT, 1)),)))
    out = made.process(pl.DataFrame({"a": [1, 2, 3], "b": [1, 2, 3]}))
    assert out is not None
    assert out["one"].to_list() == [1, 1, 1]


@pytest.mark.parametrize("beside", [(), ("word",)])
@pytest.mark.parametrize("name", ["eq", "lt", "is_not_distinct_from"])
def test_a_constant_beside_one_value_repeated_gives_every_row(name: str, beside: tuple[str, ...]) -> None:
    source, word = table(word=VARCHAR), Column(VARCHAR, "word")
    items = (("same", resolve_call(name, [Literal(VARCHAR, "a"), word])), *((column, word) for column in beside))
    out = chain(Project(source, items)).process(pl.DataFrame({"word": ["a"]})[[0, 0, 0, 0]])
    assert out is not None
    assert out["same"].to_list() == [name != "lt"] * 4


def test_rows_that_fail_are_refused_with_their_reason() -> None:
    source, a, b = two()
    made = chain(Project(source, (("q", resolve_call("divide", [a, b])), ("s", resolve_call("add", [a, a])))))
    out = made.process(pl.DataFrame({"a": [6, 7, 2**63 - 1], "b": [2, 0, 1]}))
    assert out is not None
    assert out.rows() == [(3, 12)]
    refused = made.take_refused()
    assert [row.row for row in refused] == ['{"a": 7, "b": 0}', '{"a": 9223372036854775807, "b": 1}']
    assert "zero" in refused[0].reason
    assert "overflow" in refused[1].reason.lower() or "BIGINT" in refused[1].reason


def test_a_filter_keeps_what_is_true_and_refuses_what_fails() -> None:
    source, a, b = two()
    made = chain(Filter(source, resolve_call("gt", [a, b])))
    out = made.process(pl.DataFrame({"a": [1, 5, None], "b": [3, 3, 3]}))
    assert out is not None
    assert out["a"].to_list() == [5]
    made = chain(Filter(source, resolve_call("gt", [resolve_call("divide", [a, b]), Literal(BIGINT, 1)])))
    out = made.process(pl.DataFrame({"a": [6, 1, 2], "b": [2, 0, 2]}))
    assert out is not None
    assert (out["a"].to_list(), len(made.take_refused())) == ([6], 1)


def test_a_watermark_is_the_largest_seen_in_the_batch_and_the_oldest_and_newest_rows_are_noted() -> None:
    source = table(at=TIMESTAMP)
    delay = resolve_call("subtract", [Column(TIMESTAMP, "at"), Literal(INTERVAL, timedelta(seconds=5))])
    made = chain(Watermark(source, "at", delay))
    frame = pl.DataFrame(
        {"at": [datetime(1970, 1, 1, 0, 0, 7), None, datetime(1970, 1, 1)]}, schema=source.schema.polars()
    )
    assert made.process(frame) is not None
    assert made.sight == (0, 7_000_000, 2_000_000)
    made.process(frame[1:2])
    assert made.sight is None


@pytest.mark.parametrize("least", [-(2**63) + 5_000_000, 0], ids=["just fits", "usual"])
def test_a_fixed_delay_shows_what_the_same_delay_of_each_row_shows(least: int) -> None:
    source, at = table(at=TIMESTAMP), Column(TIMESTAMP, "at")
    fixed = resolve_call("subtract", [at, Literal(INTERVAL, timedelta(seconds=5))])
    each = resolve_call("subtract", [resolve_call("greatest", [at, at]), Literal(INTERVAL, timedelta(seconds=5))])
    times = pl.Series("at", [None, least, 7_000_000], dtype=pl.Int64).cast(pl.Datetime("us"))
    whole, one_by_one = (chain(Watermark(source, "at", expression)) for expression in (fixed, each))
    kept, expected = (made.process(times.to_frame()) for made in (whole, one_by_one))
    assert kept is not None
    assert kept.equals(expected)
    assert whole.sight == one_by_one.sight


def test_unnest_repeats_rows_and_counts_from_one() -> None:
    source = table(a=BIGINT, items=ArrayType(VARCHAR))
    items = Column(ArrayType(VARCHAR), "items")
    frame = pl.DataFrame({"a": [1, 2, 3, 4], "items": [["x", None], [], None, ["y"]], WEIGHT: [1, 1, 1, -1]})
    out = chain(Unnest(source, items, (("item", VARCHAR), ("n", BIGINT)), ordinality=True)).process(frame)
    assert out is not None
    assert out.columns == ["a", "items", "item", "n", WEIGHT]
    assert out.select("a", "item", "n", WEIGHT).rows() == [(1, "x", 1, 1), (1, None, 2, 1), (4, "y", 1, -1)]
    out = chain(Unnest(source, items, (("item", VARCHAR), ("n", BIGINT)), ordinality=True, outer=True)).process(frame)
    assert out is not None
    assert out.select("a", "item", "n").rows() == [
        (1, "x", 1),
        (1, None, 2),
        (2, None, None),
        (3, None, None),
        (4, "y", 1),
    ]


def test_unnest_of_rows_and_maps_gives_a_column_a_field() -> None:
    row = RowType((("x", BIGINT), ("y", VARCHAR)))
    source = table(items=ArrayType(row))
    node = Unnest(source, Column(ArrayType(row), "items"), (("x", BIGINT), ("label", VARCHAR)))
    frame = pl.DataFrame({"items": [[{"x": 1, "y": "a"}, {"x": 2, "y": None}]]}, schema=source.schema.polars())
    out = chain(node).process(frame)
    assert out is not None
    assert out.select("x", "label").rows() == [(1, "a"), (2, None)]
    source = table(m=MapType(VARCHAR, BIGINT))
    node = Unnest(source, Column(MapType(VARCHAR, BIGINT), "m"), (("k", VARCHAR), ("v", BIGINT)))
    frame = pl.DataFrame({"m": [[{"key": "a", "value": 1}]]}, schema=source.schema.polars())
    out = chain(node).process(frame)
    assert out is not None
    assert out.select("k", "v").rows() == [("a", 1)]


def test_a_node_without_an_operator_is_refused() -> None:
    source, _, _ = two()
    with pytest.raises(PlanError, match="a topology has no entry for ExcludeLateRows"):
        chain(ExcludeLateRows(source, group(source, ["a"]), "count_by_a", "late.jsonl", False, False))


def shared_parts() -> tuple[Filter, Project]:
    """A filter and a projection above it that both need a text in small letters; the projection fails where b is 0."""
    source, word, (_, a, b) = table(word=VARCHAR, a=BIGINT, b=BIGINT), Column(VARCHAR, "word"), two()
    small = resolve_call("lower", [word])
    kept = Filter(source, resolve_call("ne", [small, Literal(VARCHAR, "no")]))
    length = resolve_call("char_length", [small])
    items = (("small", small), ("size", length), ("twice", resolve_call("add", [length, length])))
    return kept, Project(kept, (*items, ("q", resolve_call("divide", [a, b]))))


def test_what_a_filter_and_the_projection_above_it_need_is_computed_once() -> None:
    kept, projected = shared_parts()
    alone = chain(projected)
    both = build_chain([kept, projected], Settings())
    rows = {
        "word": ["NO", "Yes", None, "ÉTÉ", "No"],
        "a": [1, 2, 3, 4, 5],
        "b": [1, 0, 1, 2, 0],
        WEIGHT: [1, 1, 1, -1, 1],
    }
    ((_, out),) = both.process(pl.DataFrame(rows))
    assert out.columns == ["small", "size", "twice", "q", WEIGHT]
    assert out.rows() == [("été", 3, 6, 2, -1)]
    assert [row.row for row in both.take_refused()] == ['{"word": "Yes", "a": 2, "b": 0}']
    selection, projection = both.operators
    given = selection.process(pl.DataFrame(rows))
    assert given is not None
    assert given.columns == ["$shared0.", "word", "a", "b", WEIGHT]
    assert "$shared0." in str(projection.__dict__["_values"][0])
    assert alone.process(pl.DataFrame(rows)[3:4]).rows() == out.rows()  # type: ignore[union-attr]


def test_a_filter_whose_rows_others_read_hands_nothing_on() -> None:
    kept, projected = shared_parts()
    outputs = [Output(kept.schema, stream="rows", place=0), Output(projected.schema, stream="words", place=1)]
    made = build_chain([kept, projected], Settings(), outputs=outputs).process(
        pl.DataFrame({"word": ["Yes"], "a": [2], "b": [1]})
    )
    assert {stream: frame.columns for stream, frame in made} == {
        "rows": ["word", "a", "b"],
        "words": ["small", "size", "twice", "q"],
    }


def test_a_quotient_that_is_cast_and_checked_is_divided_once(monkeypatch: pytest.MonkeyPatch) -> None:
    divided, divide = [], lowering.apply_ufunc
    monkeypatch.setattr(lowering, "apply_ufunc", lambda name, *columns: divided.append(name) or divide(name, *columns))
    source, speed = table(speed=DOUBLE), Column(DOUBLE, "speed")
    fifth = Cast(INT, resolve_call("floor", [resolve_call("divide", [speed, Literal(DOUBLE, 5.0)])]))
    made = chain(Project(source, (("from", resolve_call("multiply", [fifth, Literal(INT, 5)])),)))
    out = made.process(pl.DataFrame({"speed": [12.5, None, 4.0]}))
    assert out is not None
    assert (out["from"].to_list(), divided) == ([10, None, 0], ["divide"])


def test_what_may_fail_is_not_shared() -> None:
    _, a, b = two()
    quotient = resolve_call("divide", [a, b])
    text = Cast(VARCHAR, quotient)
    assert not share_parts((text, resolve_call("lower", [text]))).parts


def test_parts_within_parts_are_computed_before_them() -> None:
    word = Column(VARCHAR, "word")
    small = resolve_call("lower", [word])
    ends = resolve_call("reverse", [small])
    shared = share_parts((ends, resolve_call("concat", [ends, small]), small))
    assert [part for _, part in shared.parts] == [small, replace(ends, arguments=(Column(VARCHAR, shared.names[0]),))]
    assert len(shared.columns()) == 2
