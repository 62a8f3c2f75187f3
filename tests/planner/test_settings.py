"""Settings from text."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ouzel.errors import QueryError
from ouzel.planner.settings import (
    FLINK_SETTINGS,
    FORMER_NAMES,
    SETTING_KEYS,
    Delivery,
    Settings,
    setting_key,
    shown_setting,
)
from ouzel.session import load_text


def test_text_becomes_values_and_later_ones_win() -> None:
    pairs = [("parallelism", "2"), ("delivery", "AT_MOST_ONCE"), ("container.cpu", "2.5"), ("parallelism", "3")]
    settings = Settings().with_values(pairs)
    assert (settings.parallelism, settings.delivery, settings.container_cpu) == (3, Delivery.AT_MOST_ONCE, 2.5)


def test_yes_or_no_is_true_or_false() -> None:
    on = Settings().with_values([("topology.master.standby", "True")])
    assert (on.topology_master_standby, Settings().topology_master_standby) == (True, False)
    assert [shown_setting(one, "topology_master_standby") for one in (on, Settings())] == ["true", "false"]


@pytest.mark.parametrize("key", ["dead-letter.path", "dead_letter_path", "error.table"])
def test_the_path_of_dead_letters_may_have_its_former_name(key: str) -> None:
    assert Settings().with_values([(key, "bad.jsonl")]).dead_letter_path == "bad.jsonl"
    assert "dead-letter.path" in SETTING_KEYS


def test_every_setting_is_described() -> None:
    described = re.findall(r"^ {8}(\w+): ", Settings.__doc__ or "", re.MULTILINE)
    assert [setting_key(name) for name in described] == list(SETTING_KEYS)


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        (
            "pipeline.name",
            "q",
            "there is no setting 'pipeline.name'; write SET 'query.name'",
        ),
        (
            "table.exec.emit.allow-lateness",
            "1 h",
            "there is no setting 'table.exec.emit.allow-lateness'; write EMIT AFTER WATERMARK WITH LATENESS INTERVAL '1' HOUR",
        ),
        (
            "execution.checkpointing.timeout",
            "10 min",
            "there is no setting 'execution.checkpointing.timeout'; SET 'checkpoint.interval.ms', see docs/delivery.md",
        ),
        (
            "table.optimizer.join-reorder-enabled",
            "true",
            "there is no setting 'table.optimizer.join-reorder-enabled'; "
            "it is a setting of Flink: see docs/flink.md for what is written here",
        ),
        ("parallelizm", "2", "there is no setting 'parallelizm'; did you mean 'parallelism'?"),
        (
            "checkpoint_interval",
            "5",
            "there is no setting 'checkpoint_interval'; did you mean 'checkpoint_interval_ms', in milliseconds: 5000 is five seconds?",
        ),
        (
            "ack.timeout",
            "30",
            "there is no setting 'ack.timeout'; did you mean 'ack.timeout.ms', in milliseconds: 5000 is five seconds?",
        ),
        ("hang.timeot.ms", "5000", "there is no setting 'hang.timeot.ms'; did you mean 'hang.timeout.ms'?"),
        ("parallelism", "0", "'parallelism' cannot be '0'; write a whole number"),
        ("parallelism", "two", "'parallelism' cannot be 'two'; write a whole number"),
        ("container.cpu", "-1", "'container.cpu' cannot be '-1'; write a number"),
        ("trace.sample", "1.5", "'trace.sample' cannot be '1.5'; write a number from 0 to 1"),
        ("trace.sample", "nan", "'trace.sample' cannot be 'nan'; write a number from 0 to 1"),
        ("trace.sample", "-0.1", "'trace.sample' cannot be '-0.1'; write a number from 0 to 1"),
        ("topology.master.standby", "yes", "'topology.master.standby' cannot be 'yes'; write true or false"),
        (
            "delivery",
            "exactly-once",
            "'delivery' cannot be 'exactly-once'; write effectively-once, which is exactly-once here",
        ),
        ("delivery", "once", "'delivery' cannot be 'once'; write at-most-once, at-least-once"),
    ],
)
def test_a_wrong_setting_is_refused(key: str, value: str, message: str) -> None:
    with pytest.raises(QueryError, match=re.escape(message)):
        Settings().with_values([(key, value)])


def test_a_sink_must_flush_before_its_rows_are_sent_again() -> None:
    text = """CREATE TABLE t (n BIGINT) WITH ('connector' = 'datagen');
CREATE TABLE o (n BIGINT) WITH ('connector' = 'file', 'path' = 'o', 'format' = 'csv', 'flush.interval.ms' = '60000');
INSERT INTO o SELECT n FROM t;"""
    found = "'o' is flushed every 'flush.interval.ms' = 60000, and .* after 'ack.timeout.ms' = 30000 .* SET 'ack.timeout.ms' = '180000'"
    with pytest.raises(QueryError, match=found):
        load_text(text, Path(), "q")
    load_text(text, Path(), "q", [("ack.timeout.ms", "180000")])
    load_text(text, Path(), "q", [("delivery", "at-most-once")])


@pytest.mark.parametrize("key", ["bad.record", "bad_record", "bad-record"])
def test_an_option_of_tables_is_no_setting(key: str) -> None:
    with pytest.raises(QueryError) as caught:
        Settings().with_values([(key, "skip")])
    assert (
        caught.value.instead
        == "write it into the WITH of a table; for rows that cannot be computed SET 'error.policy' = 'skip'"
    )


def test_each_setting_of_flink_that_its_page_lists_is_known() -> None:
    page = (Path(__file__).parents[2] / "docs/flink.md").read_text()
    rows = [line.split("|")[1] for line in page.splitlines() if line.startswith("| `")]
    listed = {
        name
        for row in rows
        for name in re.findall(r"`((?:table|execution|state|parallelism|pipeline)\.[\w.*-]+)`", row)
    }
    assert len(listed) >= 8
    assert {name for name in listed if name not in FLINK_SETTINGS and name not in FORMER_NAMES} == set()


@pytest.mark.parametrize(
    ("key", "value", "written"),
    [
        ("execution.checkpointing.interval", "10s", "SET 'checkpoint.interval.ms' = '10000', see docs/delivery.md"),
        ("execution.checkpointing.interval", "3 min", "SET 'checkpoint.interval.ms' = '180000', see docs/delivery.md"),
        ("execution.checkpointing.interval", "5000", "SET 'checkpoint.interval.ms' = '5000', see docs/delivery.md"),
        ("execution.checkpointing.interval", "often", "SET 'checkpoint.interval.ms', see docs/delivery.md"),
        ("execution.checkpointing.timeout", "10 min", "SET 'checkpoint.interval.ms', see docs/delivery.md"),
        ("topology.message.timeout.secs", "30", "SET 'ack.timeout.ms' = '30000'"),
    ],
)
def test_a_span_of_a_setting_of_others_is_told_in_our_unit(key: str, value: str, written: str) -> None:
    with pytest.raises(QueryError) as caught:
        Settings().with_values([(key, value)])
    assert caught.value.instead == written
