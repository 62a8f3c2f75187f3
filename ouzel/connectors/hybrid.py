"""hybrid: a table made of two, what a batch job has computed up to a boundary and what a stream has summed since."""

from __future__ import annotations

from ouzel.connectors.base import Connector, Option

CONNECTOR = Connector(
    "hybrid",
    "Totals of a batch job up to the boundary of its last whole batch, and a stream's sums since, added up. Columns are those of the batch "
    "job's query without the time; declare none. It stands for a query over the newest version of the store and the stream's table, which "
    "are fixed when the query is compiled: EXPLAIN shows it. See [batches and stores](stores.md).",
    (
        Option("batch", "The folder that `ouzel batch --advance` writes.", required=True),
        Option(
            "stream",
            "What the stream's sums are in, by the same query: a table that the SQL declares, or a folder of Parquet.",
            required=True,
        ),
        Option(
            "batcher",
            "How time is cut, '1 day' or 'day Europe/Vienna'; if it is not as in the store, the query is refused.",
        ),
        Option(
            "holes",
            "What becomes of batches behind the boundary, and before the stream's last, that the stream has nothing of: the query is "
            "refused, or it is told which.",
            "refuse",
            choices=("refuse", "tell"),
        ),
    ),
    defines="ouzel.stores.hybrid:define_hybrid",
)
