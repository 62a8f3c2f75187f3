"""How late do flights leave New York? The mean delay of each airport and day of 2013, each as soon as its day is over.

    python dsl_examples/flight_delays.py

As sql_examples/flight_delays.sql, of which it is a part.
"""

from datetime import datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from ouzel import Source, monoid

DATA = Path(__file__).parent.parent / "sql_examples/data"
DAY = timedelta(days=1)


class Flight(NamedTuple):
    """A flight that was to leave. The file has more columns; only those that are named here are read."""

    ts: datetime  # local time
    origin: str  # EWR, JFK or LGA
    dep_delay: int | None  # minutes; negative is early; None: it never left


flights = Source.file(str(DATA / "flights.parquet"), Flight, format="parquet")
timed = flights.event_time("ts", delay=timedelta(hours=1))  # rows may come up to an hour out of order
left = timed.filter(lambda flight: flight.dep_delay is not None)
delays = left.map(lambda flight: (flight.origin, flight.dep_delay)).sum_by_window(monoid.Mean(), DAY)

if __name__ == "__main__":
    print(delays.table())
