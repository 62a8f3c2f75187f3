"""kafka: topics read by explicit offsets, and written with an idempotent producer."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from ouzel.connectors.base import (
    Alias,
    BatchView,
    Connector,
    HistoryView,
    Option,
    Reads,
    Replay,
    SinkDelivery,
    Upserts,
    Writers,
    Writes,
    always,
    never,
)
from ouzel.connectors.formats import check_format, takes_rows_back
from ouzel.connectors.options import replaces_by_key
from ouzel.connectors.shedding import Shedding
from ouzel.errors import QueryError

ENDS = ("none", "latest", "timestamp", "offsets")
STARTS = ("committed-or-earliest", "committed-or-latest", "earliest", "latest", "timestamp", "offsets")


def _check(options: Mapping[str, str]) -> None:
    if ("topic" in options) == ("topic.pattern" in options):
        raise QueryError("the connector 'kafka' needs a topic", instead="write either 'topic' or 'topic.pattern'")
    for end in ("start", "end"):
        _check_end(options, end)
    check_format(options)
    _check_shedding(options)
    if replaces_by_key(options):
        _check_upserts(options)


def _check_upserts(options: Mapping[str, str]) -> None:
    for name in ("key.field", "key.fields"):
        if name in options:
            raise QueryError(
                f"'{name}' has no effect here", instead="leave it out: the PRIMARY KEY says what a record's key holds"
            )
    if options.get("tombstone") == "bad":
        raise QueryError(
            "'tombstone' cannot be 'bad' here",
            instead="leave it out: a record without a value says that its key is gone",
        )
    if "start" in options and resumes(options):
        raise QueryError(
            f"'start' cannot be '{options['start']}' here",
            instead="write 'earliest': what was read before makes part of the table",
        )


def _check_end(options: Mapping[str, str], end: str) -> None:
    chosen = options.get(end, "")
    for kind in ("timestamp", "offsets"):
        name = f"{end}.{kind}"
        if (chosen == kind) != (name in options):
            missing = name not in options
            problem = f"'{end}' = '{kind}' needs '{name}'" if missing else f"'{name}' has no effect here"
            raise QueryError(problem, instead=f"add '{name}' = '...'" if missing else f"add '{end}' = '{kind}'")
    for part in options.get(f"{end}.offsets", "").split(","):
        where, _, offset = part.strip().rpartition(":")
        if part and not (offset.isdecimal() and where.rpartition("-")[2].isdecimal()):
            raise QueryError(f"'{end}.offsets' cannot hold '{part}'", instead="write 'clicks-0:1200, clicks-1:1100'")


def resumes(options: Mapping[str, str]) -> bool:
    """Whether reading goes on where the consumer group was."""
    return options.get("start", STARTS[0]).startswith("committed")


def _sheds(options: Mapping[str, str]) -> Shedding | None:
    return Shedding(int(options["shed.lag"]), int(options["shed.rows"])) if "shed.lag" in options else None


def _check_shedding(options: Mapping[str, str]) -> None:
    given = [name for name in ("shed.lag", "shed.rows") if name in options]
    if len(given) == 1:
        raise QueryError(
            f"'{given[0]}' has no effect alone", instead="write both 'shed.lag' and 'shed.rows', or neither"
        )
    if given and options.get("end", "none") != "none":
        raise QueryError("'shed.lag' has no effect on a table that ends", instead="leave it out")
    if given and (takes_rows_back(options) or replaces_by_key(options)):
        raise QueryError(
            "'shed.lag' cannot be given for a log of changes: what is passed over might be taken back later",
            instead="leave it out",
        )
    for name in given:
        if int(options[name]) < 1:
            raise QueryError(f"'{name}' cannot be '{options[name]}'", instead="write a number from 1 on")


def _from_first_to_last(options: Mapping[str, str]) -> dict[str, str]:
    """What a consumer group has read already is part of a batch's answer."""
    start = "earliest" if resumes(options) else options["start"]
    end = options.get("end", "none")
    return {**options, "start": start, "end": "latest" if end == "none" else end}


def _starts_at_the_end(options: Mapping[str, str]) -> tuple[str, str] | None:
    if not options.get("start", "").endswith("latest"):
        return None
    return (
        "starts at its latest record, and a batch would read nothing of it",
        "write 'start' = 'earliest' or 'timestamp', or say with --offsets what to read",
    )


def _ends_at(options: Mapping[str, str], partition: str, end: int) -> dict[str, str]:
    return _without(options, "end") | {"end": "offsets", "end.offsets": f"{partition}:{end}"}


def _between(options: Mapping[str, str], first: str | None, last: str | None) -> dict[str, str]:
    made = {**options}
    for end, at in (("start", first), ("end", last)):
        if at is not None:
            made = _without(made, end) | {end: "timestamp", f"{end}.timestamp": at}
    return made


def _without(options: Mapping[str, str], end: str) -> dict[str, str]:
    return {name: value for name, value in options.items() if name.partition(".")[0] != end}


def _why_no_history(options: Mapping[str, str]) -> str:
    """Where reading began is found again, unless it was at the newest record."""
    start = options.get("start", STARTS[0])
    return (
        f"reading began where 'start' = '{start}' said then, which is another place now"
        if start.endswith("latest")
        else ""
    )


CONNECTOR = Connector(
    "kafka",
    "Topics of a Kafka cluster. Each topic partition is a partition, `clicks-0`, and its offsets are Kafka's; they are committed to the "
    "consumer group only up to what is wholly handled. There is no group rebalance: tasks share the partitions out among themselves, and "
    "new ones are read as they appear. "
    "While a broker is away reading and writing wait. "
    "As a sink it takes new rows, or, of a table with a PRIMARY KEY, upserts: a row that goes is "
    "a record without a value. With `'changelog.mode' = 'upsert'`, for which `'connector' = 'upsert-kafka'` is another word, it is read so "
    "too: a record's key holds the PRIMARY KEY, and of each key the last record counts. With `'format' = 'debezium-json'` each change is "
    "a record; `key.fields` keeps those of a key in one partition: the one in which producers of Java put it, unless "
    "`properties.partitioner` says otherwise.",
    (
        Option(
            "bootstrap.servers",
            "Brokers to ask first, host:port separated by commas.",
            required=True,
            aliases=(Alias("properties.bootstrap.servers"),),
        ),
        Option("topic", "Topics, separated by commas; the sink takes one."),
        Option(
            "topic.pattern",
            "A regular expression: all topics whose whole name matches, those too that are made later.",
            aliases=(Alias("topic-pattern"),),
        ),
        Option(
            "format", "What a record's value holds.", required=True,
            choices=("json", "debezium-json", "maxwell-json", "canal-json", "csv", "raw", "avro", "avro-confluent", "protobuf", "arrow"),
            aliases=(Alias("value.format"),),
        ),
        Option(
            "group",
            "Consumer group that offsets are committed to; by default `ouzel-<query name>`.",
            aliases=(Alias("properties.group.id"),),
        ),
        Option(
            "start",
            "Where the first reading starts; `committed-or-…` is where the consumer group was. A partition that appears later is read "
            "from its beginning.",
            "committed-or-earliest",
            choices=STARTS,
            aliases=(Alias("scan.startup.mode", {"earliest-offset": "earliest", "latest-offset": "latest", "timestamp": "timestamp"}),),
        ),
        Option("start.timestamp", "With `'start' = 'timestamp'`: the first record of that time or later.", kind="timestamp",
               aliases=(Alias("scan.startup.timestamp-millis"),)),
        Option("start.offsets", "With `'start' = 'offsets'`: `clicks-0:1200, clicks-1:1100`; partitions not named start at the earliest."),
        Option(
            "end",
            "Where reading ends: never, at what is there when the topology starts, before the first record of a time or later that is "
            "there then, or before given offsets.",
            "none",
            choices=ENDS,
            aliases=(Alias("scan.bounded.mode", {"unbounded": "none", "latest-offset": "latest", "timestamp": "timestamp"}),),
        ),
        Option("end.timestamp", "With `'end' = 'timestamp'`: before the first record of that time or later.", kind="timestamp",
               aliases=(Alias("scan.bounded.timestamp-millis"),)),
        Option("end.offsets", "With `'end' = 'offsets'`, as `start.offsets`; partitions not named are not read."),
        Option(
            "epochs.topic",
            "Sink: where epochs are noted that are written [effectively once](delivery.md#effectively-once); it is made if it is not "
            "there, compacted and with one partition.",
            "ouzel-epochs",
        ),
        Option(
            "discovery.interval.ms",
            "How often it is asked for partitions, and topics of the pattern, that are new; 0 is never. Nothing is new where reading "
            "ends.",
            "30000",
            kind="integer",
        ),
        Option(
            "spark.source",
            "What reads the topics in a batch: Ouzel's reader, which needs no jars, or `jvm`, Spark's own source, whose jars you give with "
            "`--conf spark.jars.packages=...`.",
            "ouzel",
            choices=("ouzel", "jvm"),
        ),
        Option("key.field", "Source: the column that holds the record's key, as text of the column's type."),
        Option("key.fields", "Sink: the columns that make the record's key, separated by commas; by default the PRIMARY KEY."),
        Option(
            "key.format",
            "What a key holds that is written, or read with `'changelog.mode' = 'upsert'`: `raw` is the one column as text, `json` an "
            "object; by default `raw` for one column.",
            choices=("raw", "json"),
        ),
        Option("tombstone", "Source: what a record without a value is: nothing at all, or a bad record.", "skip", choices=("skip", "bad")),
        Option(
            "connect.timeout.ms",
            "How long to wait at the start for a broker that does not answer; one that refuses, or has no address, is told of at once.",
            "10000",
            kind="integer",
        ),
        Option(
            "shed.lag",
            "Load shedding: where more records wait in a partition, the next `shed.rows` are passed over, and again until fewer "
            "wait. What is shed is counted, and left out of the batch that a recorded run is compared with. Only topologies shed.",
            kind="integer",
        ),
        Option("shed.rows", "How many records are passed over at a time.", kind="integer"),
        Option("properties.*password", "A password of librdkafka's, as `${env:NAME}` or `${file:/path}`.", secret=True),
        Option("properties.*secret", "Another secret of librdkafka's, as `${env:NAME}` or `${file:/path}`.", secret=True),
        Option("properties.ssl.key.pem", "The private key itself, as `${env:NAME}` or `${file:/path}`.", secret=True),
        Option(
            "properties.*",
            "Any property of librdkafka, `properties.security.protocol` say. Write secrets as `${env:NAME}` or `${file:/path}`; they are "
            "read when the topology starts and never shown. One that stands in the query itself is warned of, and hidden.",
        ),
    ),
    Reads(
        "ouzel.connectors.kafka.source:KafkaSource",
        bounded=lambda options: options.get("end", "none") != "none",
        batch=BatchView(_from_first_to_last, refusal=_starts_at_the_end),
        replay=Replay.OFFSET,
        changelog=takes_rows_back,
        ordered=never,
        sheds=_sheds,
        grows=lambda options: options.get("end", "none") == "none",
        resumes=resumes,
        seeks=always,
        shared=True,
        at_rest=False,
        history=HistoryView(refusal=_why_no_history),
        upserts=Upserts(("partition", "offset"), "deleted", "key.fields", {"start": "earliest"}),
        metadata={
            "topic": pl.String(),
            "partition": pl.Int32(),
            "offset": pl.Int64(),
            "timestamp": pl.Datetime("us", "UTC"),
            "key": pl.Binary(),
            "deleted": pl.Boolean(),
            "headers": pl.List(pl.Struct({"key": pl.String(), "value": pl.Binary()})),
        },
        spark="topics",
        ends_at=_ends_at,
        between=_between,
        record_time="timestamp",
        identity="ouzel.connectors.kafka.identity:topic_ids",
    ),
    Writes(
        "ouzel.connectors.kafka.sink:KafkaSink", ("append", "upsert", "retract"), Writers.MANY, SinkDelivery.AT_LEAST_ONCE,
        changes_by=("format", "debezium-json"), publisher="ouzel.connectors.kafka.publisher:KafkaPublisher",
    ),
    extra="kafka",
    check=_check,
    subject="topic",
    keyed="ouzel.connectors.kafka.keyed:KafkaRows",
    variants={"upsert-kafka": {"changelog.mode": "upsert"}},
)  # fmt: skip
