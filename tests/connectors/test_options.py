"""WITH options under Flink's names: taken where they mean the same, translated in the error where not."""

from __future__ import annotations

from pathlib import Path

import pytest

from ouzel.compiler.plan import Scan, walk
from ouzel.connectors import CONNECTORS
from ouzel.connectors.formats import FORMATS
from ouzel.connectors.options import COMMON, ELSEWHERE, check_options, in_our_names
from ouzel.errors import QueryError
from ouzel.session import load_text

FLINK = {
    "topic": "bids",
    "properties.bootstrap.servers": "b:9092",
    "properties.group.id": "g",
    "properties.security.protocol": "SSL",
    "scan.startup.mode": "timestamp",
    "scan.startup.timestamp-millis": "1700000000000",
    "scan.bounded.mode": "latest-offset",
    "value.format": "csv",
    "csv.field-delimiter": ";",
    "csv.null-literal": "-",
    "csv.ignore-parse-errors": "false",
}
CONNECTOR_OPTIONS = {
    "topic": "bids",
    "bootstrap.servers": "b:9092",
    "group": "g",
    "properties.security.protocol": "SSL",
    "start": "timestamp",
    "start.timestamp": "1700000000000",
    "end": "latest",
    "format": "csv",
    "csv.delimiter": ";",
    "csv.null": "-",
    "bad.record": "fail",
}


def test_a_table_of_flinks_is_ours() -> None:
    assert in_our_names(CONNECTORS["kafka"], FLINK) == CONNECTOR_OPTIONS
    assert in_our_names(CONNECTORS["kafka"], CONNECTOR_OPTIONS) == CONNECTOR_OPTIONS
    check_options(CONNECTORS["kafka"], CONNECTOR_OPTIONS)
    options = ", ".join(f"'{name}' = '{value}'" for name, value in {"connector": "kafka", **FLINK}.items())
    text = f"CREATE TABLE bids (price INT) WITH ({options});\nSELECT price FROM bids;"
    (scan,) = (node for node in walk(load_text(text, Path(), "q").program.sinks[0]) if isinstance(node, Scan))
    assert dict(scan.options) == CONNECTOR_OPTIONS


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("kafka", {"scan.startup.mode": "group-offsets"}, "'scan.startup.mode' cannot be 'group-offsets' here; write 'earliest-offset'"),
        ("kafka", {"scan.startup.mode": "beginning"}, "cannot be 'beginning' here; write 'earliest-offset'; all that it takes are"),
        ("kafka", {"scan.startup.mode": "specific-offsets"}, "or 'start' = 'earliest', 'latest', 'committed', 'timestamp' or 'offsets'"),
        ("kafka", {"json.ignore-parse-errors": "true"}, "'json.ignore-parse-errors' cannot be 'true' here; write 'false', or 'bad.record'"),
        ("kafka", {"topic-pattern": "a.*", "topic.pattern": "b.*"}, "'topic-pattern' and 'topic.pattern' say the same; keep one"),
        ("datagen", {"number-of-rows": "1", "rows": "2"}, "'number-of-rows' and 'rows' say the same; keep one"),
    ],
)  # fmt: skip
def test_what_means_something_else_is_translated(name: str, options: dict[str, str], message: str) -> None:
    with pytest.raises(QueryError) as refused:
        in_our_names(CONNECTORS[name], options)
    assert message in str(refused.value)


@pytest.mark.parametrize(
    ("name", "option", "value", "advice"),
    [
        ("kafka", "start", "earliest-offset", "write 'earliest'; all that it takes are 'committed-or-earliest' or "),
        ("kafka", "start", "beginning", "write 'earliest'; all"),
        ("kafka", "start", "group-offsets", "write 'committed-or-earliest'; all"),
        ("redis", "start", "now", "write 'latest'; all that it takes are 'earliest' or 'latest'"),
        ("redis", "start", "committed", "write 'earliest' or 'latest'"),
        ("file", "format", "cvs", "write 'csv'; all that it takes are 'parquet' or 'csv' or 'json' or "),
        ("file", "format", "JSON", "write 'json'"),
    ],
)  # fmt: skip
def test_a_value_that_is_none_is_told_the_nearest_and_all(name: str, option: str, value: str, advice: str) -> None:
    needed = {
        "kafka": {"bootstrap.servers": "h:1", "topic": "t", "format": "json"},
        "redis": {"url": "redis://h", "key": "k", "format": "json"},
        "file": {"path": "t"},
    }
    with pytest.raises(QueryError) as refused:
        check_options(CONNECTORS[name], {**needed[name], option: value})
    assert refused.value.problem == f"'{option}' cannot be '{value}'"
    assert refused.value.instead.startswith(advice)
    assert len(refused.value.instead) == len(advice) or advice.endswith(("all", " or "))


def test_an_option_without_its_like_says_what_to_write() -> None:
    options = {"path": "t", "format": "json", "sink.parallelism": "4"}
    with pytest.raises(
        QueryError, match=r"has no option 'sink\.parallelism'; write SET 'parallelism' = '\.\.\.', or the hint"
    ):
        check_options(CONNECTORS["file"], options)


def test_what_ksqldb_calls_an_option_is_told() -> None:
    options = {"bootstrap.servers": "h:1", "KAFKA_TOPIC": "t", "format": "json"}
    with pytest.raises(QueryError, match=r"has no option 'KAFKA_TOPIC'; did you mean 'topic'\?"):
        check_options(CONNECTORS["kafka"], options)


def test_the_error_points_at_the_option_as_it_was_written() -> None:
    text = "CREATE TABLE t (x INT) WITH ('connector' = 'datagen', 'rows-per-second' = 'many');\nSELECT x FROM t;"
    with pytest.raises(QueryError, match="'rate' cannot be 'many'") as refused:
        load_text(text, Path(), "q")
    assert text[refused.value.at : refused.value.at + refused.value.length] == "'rows-per-second' = 'many'"


def test_every_name_of_flinks_has_one_meaning() -> None:
    """No alias is another's or an option's name, and what some values of one are is also said for the others."""
    options = [*COMMON, *(option for form in FORMATS.values() for option in form.options)]
    for connector in CONNECTORS.values():
        known = [*connector.options, *options]
        aliases = [alias for option in known for alias in option.aliases]
        assert len({alias.name for alias in aliases}) == len(aliases)
        assert not {alias.name for alias in aliases} & {option.name for option in known}
        assert {alias.name for alias in aliases if alias.values} <= ELSEWHERE.keys()
        assert not {alias.name for alias in aliases if not alias.values} & ELSEWHERE.keys()


@pytest.mark.parametrize("spelled", ["bad-record", "bad_record", "BAD.RECORD"])
def test_an_option_that_is_spelled_otherwise_is_refused_with_its_name(spelled: str) -> None:
    with pytest.raises(QueryError, match=r"did you mean 'bad\.record'\?"):
        check_options(CONNECTORS["file"], {"path": "x.csv", "format": "csv", spelled: "skip"})


@pytest.mark.parametrize(("name", "is_written"), [("postgres-cdc", True), ("mysql-cdc", False)])
def test_the_changes_of_a_database_are_read_from_a_log(name: str, is_written: bool, tmp_path: Path) -> None:
    table = f"CREATE TABLE t (id BIGINT) WITH ('connector' = '{name}', 'hostname' = 'localhost'); SELECT id FROM t;"
    with pytest.raises(QueryError, match=f"there is no connector '{name}': no table of a database is read") as caught:
        load_text(table, tmp_path, "q")
    assert "read these with 'format' = 'debezium-json'" in caught.value.instead
    assert caught.value.instead.endswith("; 'postgres' is only written") is is_written
