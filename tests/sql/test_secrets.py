"""A password that stands in a query is warned of, and is in nothing that Ouzel writes or shows: plans, records, jobs, process lists."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import cloudpickle
import pytest

from ouzel.compiler.catalog import SecretWarning
from ouzel.compiler.plan import Scan, walk
from ouzel.connectors.kafka import CONNECTOR
from ouzel.connectors.kafka.client import configuration
from ouzel.connectors.options import TableOptions
from ouzel.errors import QueryError, mask_secrets
from ouzel.reconcile.recording.record import RECORD, RunRecord
from ouzel.session import Job, load_text
from ouzel.spark.lowering.job import spark_job

LITERAL = "hunter2, 'tis"
SQL = """
CREATE TABLE clicks (n BIGINT) WITH ('connector' = 'kafka', 'bootstrap.servers' = 'b:1', 'topic' = 'c', 'format' = 'json',
    'properties.sasl.username' = 'me', 'properties.sasl.password' = '{}');
SELECT n FROM clicks;
"""
VARIABLE = "OUZEL_SECRET_CLICKS_PROPERTIES_SASL_PASSWORD"


@pytest.fixture
def job(monkeypatch: pytest.MonkeyPatch) -> Job:
    monkeypatch.setenv(VARIABLE, "")  # so that it goes again
    with pytest.warns(
        SecretWarning,
        match=r"'properties\.sasl\.password' of table 'clicks' stands in the query; write '\$\{env:NAME\}'",
    ):
        return load_text(SQL.format(LITERAL.replace("'", "''")), Path(), "clicks")


def test_a_literal_is_in_nothing_that_is_written_or_shown(job: Job) -> None:
    written = cloudpickle.dumps(job).decode("latin-1") + repr(job) + job.text
    written += spark_job(job.program, job.directory, "clicks", job.text)
    assert "hunter2" not in written
    assert f"'properties.sasl.password' = '${{env:{VARIABLE}}}'" in job.text
    assert "'properties.sasl.username' = 'me'" in job.text


def test_the_connector_finds_it_in_the_environment(job: Job) -> None:
    assert password(job) == LITERAL == os.environ[VARIABLE]


def test_a_text_whose_secret_was_hidden_means_the_same(job: Job) -> None:
    again = load_text(job.text, Path(), "clicks")
    assert (again.program, again.text) == (job.program, job.text)


@pytest.mark.filterwarnings("ignore::ouzel.compiler.catalog.SecretWarning")
def test_two_queries_of_a_process_have_each_their_own(job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(f"{VARIABLE}_2", "")
    other = load_text(SQL.format("another one"), Path(), "clicks")
    assert [password(one) for one in (job, other)] == [LITERAL, "another one"]
    assert password(load_text(SQL.format("another one"), Path(), "clicks")) == "another one"
    assert f"{VARIABLE}_3" not in os.environ


def password(job: Job) -> object:
    options = dict(next(part for part in job.topology.components if part.is_spout).chain[0].options)  # type: ignore[union-attr]
    return configuration(TableOptions(CONNECTOR, options), {}, {})["sasl.password"]


def test_what_names_the_place_of_a_secret_is_left_as_it_is(recwarn: pytest.WarningsRecorder) -> None:
    text = SQL.format("${env:KAFKA_PASSWORD}")
    assert load_text(text, Path(), "clicks").text == text
    assert not recwarn.list


def test_a_record_is_its_owners_alone(tmp_path: Path) -> None:
    home = tmp_path / "runs" / "one"
    RunRecord("q", "SELECT 1", "/", "memory", "at-least-once", {}).save(home)
    assert stat.S_IMODE(home.stat().st_mode) == 0o700
    assert stat.S_IMODE((home / RECORD).stat().st_mode) == 0o600


def test_a_password_of_redis_is_hidden_too(monkeypatch: pytest.MonkeyPatch) -> None:
    variable = "OUZEL_SECRET_S_PASSWORD"
    monkeypatch.setenv(variable, "")
    text = """CREATE TABLE s (n BIGINT) WITH ('connector' = 'redis', 'url' = 'redis://r:1', 'key' = 's', 'format' = 'json',
        'password' = 'hunter2', 'items.path' = 'kept'); SELECT n FROM s;"""
    with pytest.warns(SecretWarning, match="'password' of table 's' stands in the query"):
        job = load_text(text, Path(), "s")
    written = cloudpickle.dumps(job).decode("latin-1") + repr(job) + job.text
    written += spark_job(job.program, job.directory, "s", job.text)
    assert "hunter2" not in written
    assert os.environ[variable] == "hunter2"


@pytest.mark.filterwarnings("ignore::ouzel.compiler.catalog.SecretWarning")
def test_a_secret_of_a_table_that_is_like_another_is_hidden_too(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("A", "B"):
        monkeypatch.setenv(f"OUZEL_SECRET_{name}_PASSWORD", "")
    text = """CREATE TABLE a (n BIGINT) WITH ('connector' = 'redis', 'url' = 'redis://r:1', 'key' = 's', 'format' = 'json',
        'password' = 'hunter2'); CREATE TABLE b WITH ('password' = 'hunter3') LIKE a (OVERWRITING OPTIONS);
        CREATE TABLE c LIKE a; SELECT a.n FROM a, b, c WHERE a.n / b.n > c.n"""
    job = load_text(text, Path(), "s")
    written = cloudpickle.dumps(job).decode("latin-1") + repr(job) + job.text + job.program.text
    assert "hunter" not in written
    assert [os.environ[f"OUZEL_SECRET_{name}_PASSWORD"] for name in ("A", "B")] == ["hunter2", "hunter3"]
    passwords = {
        node.table: dict(node.options)["password"]
        for sink in job.program.sinks
        for node in walk(sink)
        if isinstance(node, Scan)
    }
    assert passwords == {
        "a": "${env:OUZEL_SECRET_A_PASSWORD}",
        "b": "${env:OUZEL_SECRET_B_PASSWORD}",
        "c": "${env:OUZEL_SECRET_A_PASSWORD}",
    }


@pytest.mark.parametrize(
    "written",
    [
        "'properties.sasl.password' = 'hunter2'",
        "'password'='hunter2'",
        "'password' = 'it''s hunter2'",
        "'password' = hunter2",
        "'password' 'hunter2'",
        "'password = 'hunter2'",
        "password => 'hunter2'",
        "'properties.ssl.key.pem' = '-----BEGIN\nhunter2'",
        "'properties.sasl.jaas.config' = 'x required password=\"hunter2\";'",
        "'API_KEY' = \"hunter2\"",
        "'clientSecret' = 'hunter2",
        "'auth.token' = 'hunter2'",
        "'url' = 'redis://me:hunter2@host:6379/0'",
    ],
)
@pytest.mark.parametrize("place", ["before", "behind", "on it"])
def test_an_error_that_shows_the_line_of_a_secret_hides_it(written: str, place: str) -> None:
    text = f"CREATE TABLE t (a INTT) WITH ({written}, 'topic' = 'here', nowhere);"
    at = {"before": text.index("INTT"), "behind": text.index("nowhere"), "on it": text.index("hunter2")}[place]
    told = str(QueryError("wrong", text=text, at=at, length=4))
    assert "hunter2" not in told
    assert "***" in told or "\n" in written
    shown, carets = told.split("\n")[1:3]
    line = text[:at].count("\n")
    assert len(shown) == len(text.split("\n")[line]) + 2, "what stands behind it is where it was"
    assert carets.index("^") == at - (text.rfind("\n", 0, at) + 1) + 2


@pytest.mark.parametrize(
    "text",
    [
        "'password' = '${env:NAME}'",
        "'properties.sasl.mechanism' = 'PLAN', 'properties.sasl.username' = 'me'",
        "SELECT token = other, tokens FROM t WHERE a = 'b'",
        "'path' = 'file:///a/b.csv', 'bootstrap.servers' = 'host:9092'",
        "'password' = ''",
    ],
)
def test_what_is_no_secret_is_shown(text: str) -> None:
    assert mask_secrets(text) == text


@pytest.mark.parametrize(
    "broken",
    [
        "CREATE TABLE t (a INTT) WITH ('connector' = 'postgres', 'password' = 'hunter2');",
        "CREATE TABLE t (a INT) WITH ('connector' = 'postgres', 'password' = 'hunter2', 'tabel' = 'x'); SELECT a FROM t;",
        "CREATE TABLE t (a INT) WITH ('connector' = 'postgres', 'password' = 'hunter2' 'table' = 'x'); SELECT a FROM t;",
        "CREATE TABLE t (a INT) WITH ('connector' = 'postgres', 'password' 'hunter2'); SELECT a FROM t;",
        "CREATE TABLE t (a INT) WITH ('connector' = 'kafka', 'password' = 'hunter2'); SELECT a FROM t;",
        "CREATE TABLE t (a INT) WITH ('connector' = 'postgres', 'pasword' = 'hunter2'); SELECT a FROM t;",
        "CREATE TABLE t (a INT) WITH ('connector' = 'kafka', 'properties.sasl.pass' = 'hunter2'); SELECT a FROM t;",
        "CREATE TABLE t (a INT) WITH ('connector' = 'redis', 'url' = 'redis://me:hunter2@h/0', 'x' = 'y'); SELECT a FROM t;",
        "SELECT a FROM t WITH ('password' = 'hunter2)",
        "SET 'password' = 'hunter2'; SELECT 1;",
    ],
)
@pytest.mark.filterwarnings("ignore::ouzel.compiler.catalog.SecretWarning")
def test_no_text_that_is_wrong_tells_its_password(broken: str) -> None:
    with pytest.raises(QueryError) as refused:
        load_text(broken, Path(), "broken")
    assert "hunter2" not in str(refused.value)
