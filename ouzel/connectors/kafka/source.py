"""Reading topics: one consumer a task, assigned by hand, with a queue for each partition."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any
from zlib import crc32

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, TopicPartition

from ouzel.connectors.kafka import CONNECTOR, resumes
from ouzel.connectors.kafka.client import FINAL, LOG, Failure, configuration, patiently, refuse_unreachable, topics_of
from ouzel.connectors.kafka.discovery import Discovery
from ouzel.connectors.kafka.reachability import INTERVAL_MS, Reachability
from ouzel.connectors.kafka.reader import KafkaReader, RecordDecoder
from ouzel.connectors.kafka.records import runs_of_partitions, without_collection
from ouzel.connectors.options import TableOptions, timestamp_us
from ouzel.connectors.reading import Committed, OffsetRange, Partition, SourceRequest
from ouzel.errors import ConnectorError

_CONSUME_ROWS = 10_000
_TOPICS_SHOWN = 8
_DEFAULTS = {
    "fetch.wait.max.ms": 50,
    "fetch.message.max.bytes": 8 << 20,
    "fetch.queue.backoff.ms": 5,  # the default of a second starves a reader that empties the queue in less
    "queued.min.messages": 100_000,
    "queued.max.messages.kbytes": 131_072,
    "reconnect.backoff.max.ms": 1_000,
    "topic.metadata.refresh.interval.ms": 30_000,
    "session.timeout.ms": 45_000,  # librdkafka's own
}
_FIXED = {
    "enable.auto.commit": False,
    "enable.auto.offset.store": False,
    "enable.partition.eof": True,
    "auto.offset.reset": "error",
    "statistics.interval.ms": INTERVAL_MS,
}


class KafkaSource:
    """All partitions of the topics asked for."""

    def __init__(self, request: SourceRequest) -> None:
        self._options = TableOptions(CONNECTOR, request.options)
        self._failure = Failure(self._options.text("bootstrap.servers"))
        self._timeout_s = self._options.integer("connect.timeout.ms") / 1000
        self._resumes, self._begins_anew = resumes(request.options), request.anew
        self._decoder = RecordDecoder(request, self._options)
        self._readers: dict[tuple[str, int], KafkaReader] = {}
        self._opened: set[tuple[str, int]] = set()
        self._acked: dict[str, Committed] = {}
        self._pinned: dict[str, Committed] = {}
        self._asked: dict[str, Committed] | None = None
        self._kept: dict[str, Committed] = {}
        self._refusal = ""
        self._asked_s = 0.0
        self._again = request.again
        self._bounded = self._options.text("end") != "none"
        every_s = 0 if self._bounded else self._options.integer("discovery.interval.ms") / 1000
        self._discovery = Discovery(self._list_partitions, self._timeout_s, every_s)
        self._ends: dict[str, int | None] = {}
        group = self._options.text("group") or f"ouzel-{request.name or request.table}"
        self._reachability = Reachability(self._failure.servers)
        callbacks = {
            "group.id": group,
            "error_cb": self._note,
            "stats_cb": self._reachability.note,
            "on_commit": self._on_answer,
        }
        try:
            settings = configuration(self._options, _DEFAULTS, {**_FIXED, **callbacks})
            self._answer_s = int(settings["session.timeout.ms"]) / 500
            self._consumer = Consumer(settings, logger=LOG)
        except (KafkaException, ValueError) as error:
            reason = error.args[0].str() if isinstance(error, KafkaException) else str(error)
            raise ConnectorError(f"table '{request.table}': librdkafka refuses its properties: {reason}") from None

    def _note(self, error: KafkaError) -> None:
        self._failure.note(error)
        if error.code() == KafkaError._ALL_BROKERS_DOWN:
            self._reachability.on_lost()

    def away(self, place: tuple[str, int]) -> str:
        """Why a partition cannot be asked now, or empty."""
        return self._reachability.away(place)

    def last(self, place: tuple[str, int]) -> int | None:
        """The offset behind a partition's newest record, as the last fetch told it."""
        known = self._consumer.get_watermark_offsets(TopicPartition(*place), cached=True)
        return known[1] if known and known[1] >= 0 else None

    def partitions(self) -> Sequence[Partition]:
        """Every partition of every topic, by name and number; those that appear later come last."""
        return [Partition(name, self._bounded, _turn(name)) for name in self._discovery.names()]

    def _list_partitions(self, timeout_s: float, first: bool) -> list[str]:
        if first and not self._again:
            refuse_unreachable(self._failure.servers, timeout_s)
        known = topics_of(self._consumer, self._failure, timeout_s, alone=first)
        ids = [f"{topic}-{number}" for topic in self._topics(known) for number in sorted(known[topic].partitions)]
        if self._options.text("end") == "offsets":
            ids = [name for name in ids if name in self._read_offsets("end")]
        return ids

    def _topics(self, known: Mapping[str, Any]) -> list[str]:
        pattern = self._options.get("topic.pattern")
        found = [name for name in sorted(known) if pattern and re.fullmatch(pattern, name)]
        if pattern and not found:
            raise ConnectorError(f"no topic on Kafka at {self._failure.servers} matches '{pattern}'; {_list(known)}")
        for name in self._options.names("topic"):
            if name not in known or known[name].error or not known[name].partitions:
                near = get_close_matches(name, known, 2)
                hint = f"did you mean {' or '.join(map(repr, near))}?" if near else _list(known)
                raise ConnectorError(f"there is no topic '{name}' on Kafka at {self._failure.servers}; {hint}")
        return found or list(self._options.names("topic"))

    def reader(self, partition: Partition, offset: int | None) -> KafkaReader:
        """Read on from `offset`; None is where 'start' says."""
        place = _place(partition.id)
        start = self._start(partition.id) if offset is None else offset
        if offset is None and self._options.text("start") == "committed-or-latest":
            self._pinned[partition.id] = Committed(start)
        reader = KafkaReader(self, place, start, self._end(partition.id), self._decoder, pinned=offset is None)
        self._readers[place] = reader
        self._opened.add(place)
        if not reader.finished:
            self._consumer.incremental_assign([TopicPartition(*place, start)])
        return reader

    def span(self, partition: Partition) -> tuple[int, int | None]:
        """Where reading starts and before which offset it ends, as the options say now; None is never."""
        return self._start(partition.id), self._end(partition.id)

    def reach(self, partition: Partition, offset: int | None, rows: int) -> OffsetRange:
        """Up to the partition's newest record, or to the end that the options say; that is settled when it is first asked for."""
        name = partition.id
        if name not in self._ends:
            self._ends[name] = self._end(name)
        start, end = self._start(name) if offset is None else offset, self._ends[name]
        until = max(start, min(start + rows, self._bounds(name)[1] if end is None else end))
        return OffsetRange(start, until, end is not None and until >= end)

    def _start(self, name: str) -> int:
        how = self._options.text("start")
        if self._resumes and not self._begins_anew:
            kept = self._ask_committed([name]).get(name)
            if kept is not None:
                return kept.offset
        if how == "offsets" and name in self._read_offsets("start"):
            return self._read_offsets("start")[name]
        low, high = self._bounds(name)
        if how == "timestamp":
            return self._offset_of(name, "start.timestamp", high)
        return high if how.endswith("latest") and not self._is_new(name) else low

    def _is_new(self, name: str) -> bool:
        """Whether the partition has appeared since the run began: then it is read from its beginning, for all of it is new.

        When a task is started again, those that were there before have a place.
        """
        return self._again or self._discovery.is_new(name)

    def _end(self, name: str) -> int | None:
        how = self._options.text("end")
        if how == "offsets":
            return self._read_offsets("end")[name]
        if how == "timestamp":
            return self._offset_of(name, "end.timestamp", self._bounds(name)[1])
        return self._bounds(name)[1] if how == "latest" else None

    def _offset_of(self, name: str, option: str, high: int) -> int:
        """The first record that is not older than the option says; `high` if there is none yet."""
        wanted_ms = -(-timestamp_us(self._options.text(option)) // 1000)  # Kafka counts whole milliseconds
        wanted = TopicPartition(*_place(name), wanted_ms)
        found = self._ask(lambda seconds: self._consumer.offsets_for_times([wanted], seconds), name)[0].offset
        return int(found) if found >= 0 else high

    def _read_offsets(self, end: str) -> dict[str, int]:
        pairs = (part.rpartition(":") for part in self._options.names(f"{end}.offsets"))
        return {name.strip(): int(offset) for name, _, offset in pairs}

    def _bounds(self, name: str) -> tuple[int, int]:
        place = TopicPartition(*_place(name))
        low, high = self._ask(lambda seconds: self._consumer.get_watermark_offsets(place, timeout=seconds), name)
        return int(low), int(high)

    def _ask(self, question: Callable[[float], Any], what: str) -> Any:
        return patiently(question, self._failure, what, self._timeout_s)

    def fetch(self) -> None:
        """Hand what has arrived to its partition's reader.

        Raises:
            ConnectorError: an error that waiting does not mend.
        """
        self._failure.raise_if_any()
        with without_collection():
            self._hand_out()

    def _hand_out(self) -> None:
        for share in runs_of_partitions(self._consume(), len({topic for topic, _ in self._opened}) > 1):
            place = (share[0].topic(), share[0].partition())
            if place in self._readers:
                self._readers[place].take(share)

    def _consume(self) -> list[Message]:
        try:
            messages = self._consumer.consume(_CONSUME_ROWS, 0.001)
        except KafkaException as error:
            raise self._failure.sentence(error.args[0]) from None
        if any(map(Message.error, messages)):
            return [message for message in messages if not self._is_event(message)]
        return messages  # type: ignore[no-any-return]

    def _is_event(self, message: Any) -> bool:
        """Whether it is not a record but an event: the end of a partition for now, or an error."""
        error = message.error()
        if not error:
            return False
        place = (message.topic(), message.partition())
        if error.code() == KafkaError._PARTITION_EOF:
            if place in self._readers:
                self._readers[place].on_gap(message.offset())
        elif error.fatal() or error.code() in FINAL:
            raise self._failure.sentence(error, f"{place[0]}[{place[1]}]" if place[0] else "")
        return True

    def hold(self, place: tuple[str, int], paused: bool) -> None:
        """Stop or go on fetching a partition whose reader lags behind the others."""
        change = self._consumer.pause if paused else self._consumer.resume
        change([TopicPartition(*place)])

    def seek(self, place: tuple[str, int], offset: int) -> None:
        """Fetch a partition from there; what comes from before is not taken."""
        self._consumer.incremental_unassign([TopicPartition(*place)])
        self._consumer.incremental_assign([TopicPartition(*place, offset)])

    def forget(self, place: tuple[str, int]) -> None:
        """A reader is done with its partition."""
        if self._readers.pop(place, None) and place in {
            (held.topic, held.partition) for held in self._consumer.assignment()
        }:
            self._consumer.incremental_unassign([TopicPartition(*place)])

    def commit(self, places: Mapping[str, Committed]) -> str:
        """Commit to the group, without waiting; `close` waits. What was the latest record when reading began is where it began.

        librdkafka goes on asking for minutes where no coordinator answers, and says nothing: after two sessions' time we do.
        """
        self._acked = self._pinned | self._acked | dict(places)
        if self._asked is not None and time.monotonic() - self._asked_s > self._answer_s:
            self._refuse(KafkaError(KafkaError._TIMED_OUT))
            self._asked_s = time.monotonic()
        if self._asked is None and self._acked != self._kept:
            self._asked, self._asked_s = dict(self._acked), time.monotonic()
            try:
                self._consumer.commit(offsets=_positions(self._asked), asynchronous=True)
            except KafkaException as error:
                self._on_answer(error.args[0], ())
        refusal, self._refusal = self._refusal, ""
        return refusal

    def _on_answer(self, error: KafkaError | None, places: Sequence[TopicPartition]) -> None:
        """The broker has answered a commit, or there was no answer; each partition may have an error of its own."""
        error = next((place.error for place in places if place.error), error)
        if error:
            self._refuse(error)
        else:
            self._kept = self._asked or self._kept
        self._asked = None

    def _refuse(self, error: KafkaError) -> None:
        self._refusal = f"{self._failure.sentence(error, 'a commit of offsets')}; it is tried again"

    def committed(self) -> Mapping[str, Committed]:
        """What the group has committed, if 'start' asks for it."""
        if not self._resumes:
            return {}
        return self._ask_committed([partition.id for partition in self.partitions()])

    def _ask_committed(self, names: Sequence[str]) -> dict[str, Committed]:
        asked = [TopicPartition(*_place(name)) for name in names]
        found = self._ask(lambda seconds: self._consumer.committed(asked, timeout=seconds), "the group's offsets")
        pairs = zip(names, found, strict=True)
        return {name: Committed(place.offset, place.metadata or "") for name, place in pairs if place.offset >= 0}

    def close(self) -> None:
        """Commit for good and leave.

        Raises:
            ConnectorError: the last commit failed: those records come again next time.
        """
        try:
            if self._acked != self._kept:
                self._consumer.commit(offsets=_positions(self._acked), asynchronous=False)
        except KafkaException as error:
            raise self._failure.sentence(error.args[0], "the last commit of offsets") from None
        finally:
            self._discovery.close()
            self._consumer.close()


def _list(known: Iterable[str]) -> str:
    names = sorted(name for name in known if not name.startswith("__"))  # Kafka's own
    more = f" and {len(names) - _TOPICS_SHOWN} more" if len(names) > _TOPICS_SHOWN else ""
    return f"there are {', '.join(names[:_TOPICS_SHOWN])}{more}" if names else "there are no topics yet"


def _place(name: str) -> tuple[str, int]:
    topic, _, number = name.rpartition("-")
    return topic, int(number)


def _turn(name: str) -> int:
    """Partitions of a topic go round the tasks, and each topic begins elsewhere: whoever asks, and whenever, gets the same answer."""
    topic, number = _place(name)
    return crc32(topic.encode()) + number


def _positions(places: Mapping[str, Committed]) -> list[TopicPartition]:
    return [TopicPartition(*_place(name), offset, note) for name, (offset, note) in places.items()]
