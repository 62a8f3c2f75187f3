"""A compacted topic as rows by key: it is read to its end whenever it is asked, and of each key the last record counts."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping

import polars as pl

from ouzel.connectors.kafka.source import KafkaSource
from ouzel.connectors.keyed import KeyedRequest
from ouzel.connectors.reading import ReadBatch, ReadState, Source, SourceRequest
from ouzel.errors import ConnectorError

_ROWS = 50_000
_PAUSE_S = 0.02
_PLACE = {"$partition": "partition", "$offset": "offset", "$deleted": "deleted"}
_KINDS = {"$partition": pl.Int32(), "$offset": pl.Int64(), "$deleted": pl.Boolean()}


class KafkaRows:
    """See keyed.KeyedRows. Nothing is added: a topic cannot tell what it has of a key, nor that nobody else has written it meanwhile."""

    def __init__(self, request: KeyedRequest) -> None:
        self._request = request
        if request.writes:
            raise ConnectorError(
                f"table '{request.table}': a topic adds nothing up; write totals to it, or take a store of redis or postgres"
            )
        own = {"changelog.mode": "upsert", "start": "earliest", "end": "latest", "key.fields": ",".join(request.keys)}
        columns = {**request.columns, **_KINDS}
        self._source = SourceRequest(
            request.table, {**request.options, **own}, columns, request.directory, _PLACE, name="ouzel-keyed"
        )

    def get_many(self, keys: pl.DataFrame) -> pl.DataFrame:
        return self.rows().join(keys, on=list(self._request.keys), how="semi")

    def rows(self) -> pl.DataFrame:
        source = KafkaSource(self._source)
        try:
            records = pl.concat([pl.DataFrame(schema=dict(self._source.columns)), *self._read(source)])
        finally:
            source.close()
        last = records.sort("$partition", "$offset").unique(list(self._request.keys), keep="last", maintain_order=True)
        return last.filter(~pl.col("$deleted")).select(list(self._request.columns))

    def _read(self, source: Source) -> Iterator[pl.DataFrame]:
        for partition in source.partitions():
            reader = source.reader(partition, None)
            try:
                while (found := reader.read(_ROWS)) is not ReadState.END:
                    if not isinstance(found, ReadBatch):
                        time.sleep(_PAUSE_S)  # it comes soon, or the broker is away
                        continue
                    if found.bad:
                        bad = found.bad[0]
                        raise ConnectorError(f"table '{self._request.table}' at {bad.where}: {bad.reason}")
                    yield found.frame
            finally:
                reader.close()

    def merge(self, batches: Mapping[str, pl.DataFrame]) -> None:
        """Not called: what is opened for writing is refused."""
        raise AssertionError("a topic adds nothing up")

    def close(self) -> None:
        """Nothing is kept open."""
