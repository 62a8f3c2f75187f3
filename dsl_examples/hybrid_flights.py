"""Flights by airport, from a batch job up to a boundary and from a stream since: three days, one of which the batch gets wrong at first.

    python dsl_examples/hybrid_flights.py

See docs/stores.md.
"""

from datetime import datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import polars as pl

from ouzel import Sink, Source, Stream, monoid
from ouzel.stores import ClientStore, Disagreement, FolderStore, MergedTotals, advance, parse_batcher, stored_stream

DATA = Path(__file__).parent.parent / "sql_examples/data/flights.parquet"
DAYS = [datetime(2013, 1, day) for day in (1, 2, 3, 4)]
AIRPORTS = ["EWR", "JFK", "LGA"]


class Flight(NamedTuple):
    """A flight that was to leave."""

    ts: datetime
    origin: str


def leaving(flight: Flight) -> tuple[str, int]:
    """One from its airport."""
    return flight.origin, 1


def kept_sums(path: Path) -> Stream:
    """How many flights leave each airport in six hours, kept as Parquet."""
    flights = Source.file(f"{path}/flights", Flight, format="parquet").event_time("ts", timedelta(hours=1))
    sums = flights.map(leaving).sum_by_window(monoid.Sum(), timedelta(hours=6))
    return sums.write(Sink.file(f"{path}/sums", format="parquet"))


class Outcome(NamedTuple):
    """What comes of it."""

    wrong: list[Disagreement]
    left: list[Disagreement]
    totals: MergedTotals


def work(path: Path, engine: str = "heron") -> Outcome:
    """All of it, in a folder."""
    (path / "flights").mkdir()
    flights = pl.read_parquet(DATA).filter(pl.col("ts").is_between(DAYS[0], DAYS[-1], closed="left"))
    halves = flights.sort("ts").with_columns(pl.col("ts").dt.strftime("%Y-%m-%d-%p").alias("half"))
    for (half,), part in halves.partition_by("half", as_dict=True, include_key=False).items():
        part.write_parquet(path / f"flights/{half}.parquet")
    sums, store = kept_sums(path), FolderStore(path / "totals")

    # The stream sums all three days, window by window.
    sums.run(engine)

    # The batch job computes the first two, but the second half of the second day has not arrived where it reads.
    late = (path / "flights/2013-01-02-PM.parquet").rename(path / "not yet here")
    job = sums.job(answers=False)
    advance(job, store, batcher=parse_batcher("1 day"), start=DAYS[0], end=DAYS[1])
    advance(job, store, end=DAYS[2])
    wrong = client(path, store).disagreements()

    # It arrives, and that day is computed again.
    late.rename(path / "flights/2013-01-02-PM.parquet")
    advance(job, store, start=DAYS[1], end=DAYS[2])
    read = client(path, store)
    return Outcome(wrong, read.disagreements(), read.get_many(AIRPORTS))


def client(path: Path, store: FolderStore) -> ClientStore:
    """Reads the batch job's days, and the stream's since."""
    return ClientStore(store, stored_stream(store, path / "sums"), store.monoid)


stream = kept_sums(Path())  # what `ouzel explain` would show

if __name__ == "__main__":
    with TemporaryDirectory() as folder:
        found = work(Path(folder))
    for one in found.wrong:
        print(f"batch {one.batch} of {one.key}: {one.of_batch} by the batch job, {one.of_stream} by the stream")
    print(f"computed again; {len(found.left)} differ")
    print(f"by the batch job up to {found.totals.boundary}, by the stream since, with {len(found.totals.holes)} holes:")
    for airport, (count,) in found.totals.values.items():
        print(f"{airport} {count:,} flights")
