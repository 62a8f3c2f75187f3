"""nexmark: the benchmark's proportions, ids and hot spots, and the same event for the same number."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from ouzel.connectors.base import ReadBatch, SourceRequest
from ouzel.connectors.nexmark import NexmarkSource
from ouzel.connectors.nexmark_fields import FIELDS
from ouzel.errors import ConnectorError

TIME = pl.Datetime("us")
COLUMNS: dict[str, dict[str, pl.DataType]] = {
    "person": {"id": pl.Int64(), "name": pl.String(), "creditCard": pl.String(), "dateTime": TIME},
    "auction": {"id": pl.Int64(), "seller": pl.Int64(), "category": pl.Int64(), "dateTime": TIME, "expires": TIME},
    "bid": {
        "auction": pl.Int64(),
        "bidder": pl.Int64(),
        "price": pl.Int64(),
        "channel": pl.String(),
        "url": pl.String(),
        "dateTime": TIME,
    },
}


def events(table: str, tasks: int = 1, rows: int = 10_000, **options: str) -> pl.DataFrame:
    given = {"table": table, "events": "50000", **options}
    source = NexmarkSource(SourceRequest("t", given, COLUMNS[table], Path("."), tasks=tasks))
    frames = []
    for part in source.partitions():
        reader = source.reader(part, None)
        while isinstance(batch := reader.read(rows), ReadBatch):
            frames.append(batch.frame)
    return pl.concat(frames)


def test_of_fifty_events_one_is_a_person_three_are_auctions() -> None:
    assert [events(table).height for table in ("person", "auction", "bid")] == [1_000, 3_000, 46_000]
    assert [events(table, events="53").height for table in ("person", "auction", "bid")] == [2, 5, 46]
    assert events("person")["id"].to_list() == list(range(1_000, 2_000))
    assert events("auction")["id"].to_list() == list(range(1_000, 4_000))


@pytest.mark.parametrize("table", COLUMNS)
def test_any_batching_and_any_number_of_tasks_gives_the_same_events(table: str) -> None:
    whole = events(table).sort(pl.all())
    assert events(table, rows=777).sort(pl.all()).equals(whole)
    assert events(table, tasks=3).sort(pl.all()).equals(whole)
    assert not events(table, seed="7").sort(pl.all()).equals(whole)


def test_bids_speak_of_what_exists_or_soon_will_and_half_of_them_of_hot_auctions() -> None:
    bids = events("bid").sort("dateTime").with_row_index("row")
    newest = 1_000 + bids["row"] // 46 * 3 + 2
    assert (bids["auction"] <= newest + 10).all()
    assert (bids["auction"] >= newest - 200).all()
    hot = (bids["auction"] % 100 == 0).mean()
    assert hot is not None
    assert 0.49 < float(hot) < 0.53  # type: ignore[arg-type]
    assert bids["price"].is_between(100, 100_000_000).all()
    named = bids["channel"].is_in(["Google", "Facebook", "Baidu", "Apple"])
    assert 0.48 < float(named.mean()) < 0.52  # type: ignore[arg-type]
    assert not bids.filter(named)["url"].str.contains("channel_id=").any()
    assert (
        bids["url"]
        .str.contains(r"^https://www\.nexmark\.com/[a-z]{5}/[a-z]{5}/[a-z]{5}/item\.htm\?query=1(&channel_id=\d+)?$")
        .all()
    )


def test_time_is_even_and_auctions_end_after_they_begin() -> None:
    auctions = events("auction", **{"events.per.second": "1000"})
    assert (auctions["expires"] > auctions["dateTime"]).all()
    people = events("person", **{"events.per.second": "1000"})["dateTime"]
    assert people.diff().drop_nulls().unique().dt.total_milliseconds().to_list() == [50]
    assert str(people[0]) == "2015-07-15 00:00:00"


def test_people_have_credit_cards() -> None:
    assert events("person")["creditCard"].str.contains(r"^\d{4} \d{4} \d{4} \d{4}$").all()


def test_every_field_can_be_made_and_others_are_named() -> None:
    for table, fields in FIELDS.items():
        columns = {name: pl.String() if name not in COLUMNS[table] else COLUMNS[table][name] for name in fields}
        source = NexmarkSource(SourceRequest("t", {"table": table}, columns, Path(".")))
        assert not source.partitions()[0].bounded
        batch = source.reader(source.partitions()[0], 5).read(3)
        assert isinstance(batch, ReadBatch)
        assert batch.frame.null_count().row(0) == (0,) * len(fields)
    with pytest.raises(ConnectorError, match="a Nexmark bid has no 'amount'; it has auction, bidder, price"):
        NexmarkSource(SourceRequest("t", {"table": "bid"}, {"amount": pl.Int64()}, Path(".")))
