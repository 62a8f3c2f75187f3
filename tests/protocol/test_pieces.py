"""A frame that is too large to travel is cut into several: in order, the same ones in every attempt, none larger than may be."""

from __future__ import annotations

from datetime import date

import polars as pl
import pytest

from ouzel.runtime.protocol import pieces as cut
from ouzel.runtime.protocol.pieces import pieces, value_bytes

WIDE = pl.DataFrame(
    {
        "n": range(100),
        "text": ["é" * (n * 7 % 90) if n % 5 else None for n in range(100)],
        "raw": [b"x" * (n % 30) for n in range(100)],
        "list": [["ab"] * (n % 6) if n % 4 else None for n in range(100)],
        "row": [{"on": date(2024, 1, 1), "note": "z" * (n % 50)} for n in range(100)],
    }
)


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cut, "PIECE_BYTES", 3_000)


def test_all_rows_are_there_in_order_and_none_is_too_large() -> None:
    found = list(pieces(WIDE))
    assert len(found) > 3
    assert pl.concat(part for _, part in found).equals(WIDE)
    assert len({name for name, _ in found}) == len(found)
    assert all(sum(map(value_bytes, part.get_columns())) <= 3_000 for _, part in found)


def test_it_is_cut_alike_wherever_its_values_lie() -> None:
    anew = pl.DataFrame(WIDE.to_dicts(), schema=WIDE.schema)
    sliced = pl.concat([WIDE] * 3, rechunk=True)[100:200]
    chunked = pl.concat([WIDE[:33], WIDE[33:]], rechunk=False)
    cuts = [[(name, part["n"].to_list()) for name, part in pieces(frame)] for frame in (WIDE, anew, sliced, chunked)]
    assert all(one == cuts[0] for one in cuts)


def test_what_can_travel_is_left_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    assert [name for name, _ in pieces(WIDE[:3])] == [()]
    one_row = pl.DataFrame({"text": ["x" * 10_000]})
    assert [name for name, _ in pieces(one_row)] == [()]
    monkeypatch.setattr(cut, "value_bytes", None)
    monkeypatch.setattr(cut, "PIECE_BYTES", 1 << 20)
    assert [name for name, _ in pieces(WIDE)] == [()], "small frames are not looked into"
