"""The Nexmark events keep the generator's public rules, whatever part of them is read."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from ouzel.connectors.nexmark import count_rows, event_numbers, generate, open_nexmark
from ouzel.connectors.nexmark_draws import Events, number_all
from ouzel.connectors.reading import ReadBatch, ReadState, SourceRequest
from ouzel.errors import ConnectorError, QueryError
from ouzel.session import load_text

BID = {name: pl.Int64() for name in ("auction", "bidder", "price")} | {
    "channel": pl.String(),
    "dateTime": pl.Datetime("us"),
}


def read_all(columns: dict[str, pl.DataType], batch: int, **options: str) -> list[pl.DataFrame]:
    """All rows of each partition, read `batch` at a time."""
    source = open_nexmark(SourceRequest("t", options, columns, Path()))
    frames = []
    for partition in source.partitions():
        reader, parts = source.reader(partition, None), []
        while isinstance(read := reader.read(batch), ReadBatch):
            assert read.end - read.start == read.frame.height <= batch
            parts.append(read.frame)
        assert read is ReadState.END
        frames.append(pl.concat(parts))
    return frames


def test_proportions_are_one_to_three_to_forty_six() -> None:
    assert [count_rows(table, 5000) for table in ("person", "auction", "bid")] == [100, 300, 4600]
    assert [count_rows(table, 53) for table in ("person", "auction", "bid")] == [2, 5, 46]
    kinds = [event_numbers(table, np.arange(count_rows(table, 500))) for table in ("person", "auction", "bid")]
    assert sorted(np.concatenate(kinds)) == list(range(500))


def test_hot_ratios() -> None:
    bids = generate("bid", np.arange(200_000), BID)
    assert (bids["auction"] % 100 == 0).mean() == pytest.approx(0.5, abs=0.02)
    assert (bids["bidder"] % 100 == 1).mean() == pytest.approx(0.75, abs=0.02)
    assert bids["channel"].is_in(["Google", "Facebook", "Baidu", "Apple"]).mean() == pytest.approx(0.5, abs=0.02)
    assert bids["price"].min() >= 100
    assert bids["price"].max() <= 100_000_000
    assert bids["price"].log10().mean() == pytest.approx(5, abs=0.05)


def test_prices_are_the_powers_of_ten_that_were_drawn() -> None:
    events = Events(*number_all(np.arange(200_000), 4, 46), 0, 10)
    drawn = events.random("price", 1 << 53) / float(1 << 53)
    assert (events.price("price") == np.round(10.0 ** (drawn * 6) * 100)).all()


def test_events_are_numbered_alike_in_any_order() -> None:
    rows = np.random.default_rng(1).integers(0, 10_000, 1000)
    assert (event_numbers("auction", rows) == rows // 3 * 50 + 1 + rows % 3).all()


def test_bids_name_only_auctions_and_people_that_exist_by_then() -> None:
    rows = np.arange(50_000)
    bids = generate("bid", rows, BID)
    rounds = event_numbers("bid", rows) // 50
    assert ((bids["auction"] - 1000).to_numpy() <= rounds * 3 + 2).all()
    assert ((bids["bidder"] - 1000).to_numpy() <= rounds + 1).all()


def test_any_batching_gives_the_same_rows() -> None:
    (whole,) = read_all(BID, 10_000, table="bid", events="3000")
    (bits,) = read_all(BID, 7, table="bid", events="3000")
    assert whole.equals(bits)
    assert whole.height == count_rows("bid", 3000)


def test_partitions_share_the_rows() -> None:
    (whole,) = read_all(BID, 10_000, table="bid", events="3000")
    parts = read_all(BID, 100, table="bid", events="3000", partitions="3")
    assert pl.concat(parts).sort(pl.all()).equals(whole.sort(pl.all()))


def test_another_seed_gives_other_events_and_a_replay_the_same() -> None:
    first, other = (read_all(BID, 500, table="bid", events="3000", seed=seed)[0] for seed in ("1", "2"))
    assert not first.equals(other)
    source = open_nexmark(SourceRequest("t", {"table": "bid", "events": "3000", "seed": "1"}, BID, Path()))
    again = source.reader(source.partitions()[0], 1000).read(500)
    assert isinstance(again, ReadBatch)
    assert again.frame.equals(first.slice(1000, 500))


def test_people_and_auctions_have_their_columns() -> None:
    person = dict.fromkeys(("name", "emailAddress", "creditCard", "city", "state", "extra"), pl.String()) | {
        "id": pl.Int64()
    }
    people = generate("person", np.arange(100), person)
    assert people["id"].to_list() == list(range(1000, 1100))
    assert people["creditCard"].str.contains(r"^\d{4} \d{4} \d{4} \d{4}$").all()
    auction = dict.fromkeys(("id", "initialBid", "reserve", "seller", "category"), pl.Int64()) | {
        "itemName": pl.String()
    }
    auctions = generate("auction", np.arange(300), auction)
    assert auctions["id"].to_list() == list(range(1000, 1300))
    assert (auctions["reserve"] > auctions["initialBid"]).all()
    assert set(auctions["category"]) == {10, 11, 12, 13, 14}


def test_an_unknown_column_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ConnectorError, match="a Nexmark bid has no column 'prize'; it has auction, bidder, price"):
        open_nexmark(SourceRequest("bids", {"table": "bid"}, {"prize": pl.Int64()}, Path()))


@pytest.mark.parametrize("parts", [1, 2])
@pytest.mark.parametrize("table", ["person", "auction", "bid"])
def test_held_events_repeat_later_and_with_higher_ids(table: str, parts: int) -> None:
    """The second time all is as the first time but for ids, which have grown by as many as there were, and time."""
    columns = {
        "person": {"id": pl.Int64(), "name": pl.String(), "dateTime": pl.Datetime("us")},
        "auction": {"id": pl.Int64(), "seller": pl.Int64(), "expires": pl.Datetime("us"), "itemName": pl.String()},
        "bid": BID,
    }[table]
    held, per_round = 10_000, {"id": 1 if table == "person" else 3, "auction": 3, "bidder": 1, "seller": 1}
    options = {"table": table, "events": str(2 * held), "partitions": str(parts)}
    made = read_all(columns, 10_000, **options)
    for whole, repeated in zip(made, read_all(columns, 700, **options, held=str(held)), strict=True):
        first, again = repeated[: len(repeated) // 2], repeated[len(repeated) // 2 :]
        assert first.equals(whole[: len(first)])
        for name, kind in columns.items():
            grows = held * 10 if kind == pl.Datetime else held // 50 * per_round.get(name, 0)
            expected = first[name].dt.offset_by(f"{grows}us") if kind == pl.Datetime else first[name]
            assert again[name].equals(expected + grows if grows and kind == pl.Int64 else expected), name


def test_held_events_that_break_off_in_a_round_are_refused() -> None:
    options = "'connector' = 'nexmark', 'table' = 'bid', 'held' = '15000', 'partitions' = '2'"
    with pytest.raises(QueryError, match="'held' = '15000' breaks off in the middle of a round"):
        load_text(f"CREATE TABLE bid (price BIGINT) WITH ({options}); SELECT price FROM bid;", Path(), "held")
