"""PostgreSQL, through a real server."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import ouzel
from ouzel.connectors import CONNECTORS, check_options, open_sink
from ouzel.connectors.postgres import client
from ouzel.connectors.postgres import table as tables
from ouzel.connectors.writing import SinkRequest, SinkWriter
from ouzel.errors import ConnectorError, QueryError
from tests.servers.postgres import PostgresServer

pytestmark = pytest.mark.server


@pytest.fixture(scope="module")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PostgresServer]:
    server = PostgresServer(tmp_path_factory.mktemp("postgres"))
    yield server
    server.remove()


@pytest.fixture(autouse=True)
def secret(postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STORE_PASSWORD", postgres.password)


def opened(
    server: PostgresServer,
    table: str,
    columns: Mapping[str, pl.DataType],
    mode: str = "append",
    task: int = 0,
    **more: str,
) -> SinkWriter:
    options = {"url": server.url, "table": table, "password": "${env:STORE_PASSWORD}", "create": "true"}
    options |= {name.replace("_", "."): value for name, value in more.items()}
    keys = ("id",) if mode != "append" else ()
    return open_sink("postgres", SinkRequest("t", options, columns, mode, Path(), keys, run="r", name="q", task=task))


def content(server: PostgresServer, table: str, columns: str = "*") -> list[Any]:
    with server.connect() as connection:
        return sorted(connection.execute(f"SELECT {columns} FROM {table}").fetchall(), key=repr)  # type: ignore[arg-type]


ROWS: dict[str, pl.DataType] = {"id": pl.Int64(), "word": pl.String()}


def rows(*some: tuple[int, str | None]) -> pl.DataFrame:
    return pl.DataFrame(list(some), schema=ROWS, orient="row")


def test_every_type_arrives_as_it_is(postgres: PostgresServer) -> None:
    moment = datetime(2024, 2, 29, 12, 30, 0, 123456)
    columns: dict[str, Any] = {
        "id": pl.Int64(), "small": pl.Int16(), "real": pl.Float64(), "single": pl.Float32(),
        "Odd \"name\"": pl.String(), "yes": pl.Boolean(),
        "data": pl.Binary(), "day": pl.Date(), "at": pl.Datetime("us"), "utc": pl.Datetime("us", "UTC"), "price": pl.Decimal(10, 2),
    }  # fmt: skip
    full = (
        1,
        -3,
        float("inf"),
        0.5,
        'comma, "quote"\n\\N',
        True,
        b"\x00\xff",
        moment.date(),
        moment,
        moment.replace(tzinfo=UTC),
        Decimal("1.20"),
    )
    empty = (2, None, float("nan"), None, "", None, b"", None, None, None, None)
    nothing = (3, *[None] * 10)
    sink = opened(postgres, "everything", columns)
    sink.write(1, pl.DataFrame([full, empty, nothing], schema=columns, orient="row"))
    sink.flush()
    sink.close()
    found = content(postgres, "everything")
    assert found[0] == full
    assert (found[1][3:], str(found[1][2])) == (empty[3:], "nan")
    assert found[2] == nothing
    with pytest.raises(
        ConnectorError, match=r"column 'many' is List\(Int64\), which PostgreSQL is not given; write TO_JSON of it"
    ):
        opened(postgres, "lists", {"many": pl.List(pl.Int64())})


def test_a_batch_that_comes_again_is_not_written_again(postgres: PostgresServer) -> None:
    for task in (0, 0, 1):  # of another task the same id is another batch
        sink = opened(postgres, "once", ROWS, task=task)
        sink.write(7, rows((1, "a")))
        sink.write(-8, rows((2, "b")))
        sink.flush()
        sink.write(-8, rows((2, "b")))
        sink.flush()
        sink.close()
    assert content(postgres, "once") == [(1, "a"), (1, "a"), (2, "b"), (2, "b")]


def test_rows_replace_each_other_by_key_and_go(postgres: PostgresServer) -> None:
    sink = opened(postgres, "by_key", ROWS, "upsert")
    weighed = lambda *some: rows(*((number, word) for number, word, _ in some)).with_columns(  # noqa: E731
        pl.Series("$weight", [weight for *_, weight in some], pl.Int64())
    )
    sink.write(1, weighed((1, "a", 1), (2, "b", 1), (3, "c", 1)))
    sink.write(2, weighed((1, "A", 1), (2, None, -1)))
    sink.flush()
    sink.write(3, weighed((3, None, -1), (2, "again", 1)))
    sink.write(1, weighed((1, "a", 1)))
    sink.flush()
    sink.close()
    assert content(postgres, "by_key") == [(1, "A"), (2, "again")]


def test_only_the_last_batches_are_remembered(postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "REMEMBERED", 3)
    monkeypatch.setattr(tables, "_FORGET_EVERY", 1)
    sink = opened(postgres, "forgets", ROWS)
    for number in range(6):
        sink.write(number, rows((number, "a")))
        sink.flush()
    sink.close()
    assert len(content(postgres, "ouzel_added WHERE store = 'forgets'")) == 3


def test_while_the_server_is_away_writing_waits(postgres: PostgresServer) -> None:
    sink = opened(postgres, "waits", ROWS)
    sink.write(1, rows((1, "a")))
    sink.flush()
    postgres.restart()
    sink.write(2, rows((2, "b")))
    sink.flush()
    sink.close()
    assert content(postgres, "waits") == [(1, "a"), (2, "b")]


def test_errors_say_where_and_why_and_no_secret(postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch) -> None:
    where = f"127.0.0.1:{postgres.port}/postgres"
    with pytest.raises(ConnectorError, match=f'PostgreSQL at {where}: relation "nowhere" does not exist; make it, or'):
        opened(postgres, "nowhere", ROWS, create="false")
    with pytest.raises(ConnectorError, match=r"table 't' has no column 'x' for 'key.fields'; it has id, word"):
        opened(postgres, "nowhere", ROWS, key_fields="x")
    opened(postgres, "strict", ROWS, "upsert").close()
    sink = opened(postgres, "strict", ROWS, "append")
    sink.write(1, rows((1, "a"), (1, "b")))
    with pytest.raises(ConnectorError, match="duplicate key value violates unique constraint"):
        sink.flush()
    sink.close()
    monkeypatch.setenv("STORE_PASSWORD", "wr0ng")
    with pytest.raises(
        ConnectorError, match=f"no PostgreSQL server lets us in at {where}: .*authentication failed"
    ) as told:
        opened(postgres, "strict", ROWS)
    assert "wr0ng" not in str(told.value)
    with pytest.raises(
        ConnectorError, match=r"no PostgreSQL server lets us in at 127.0.0.1:1/x: .*refused.*; is 'url' right"
    ):
        opened(postgres, "strict", ROWS, url="postgresql://127.0.0.1:1/x")


@pytest.mark.parametrize(
    ("kind", "held", "keeps"),
    [
        (pl.Datetime("us"), "date", False),
        (pl.Datetime("us"), "timestamp(0)", False),
        (pl.Datetime("us", "UTC"), "timestamptz", True),
        (pl.Decimal(10, 4), "numeric(10, 2)", False),
        (pl.Decimal(10, 2), "numeric(12, 4)", True),
        (pl.Decimal(10, 2), "numeric", True),
        (pl.Float64(), "real", False),
        (pl.Float32(), "double precision", True),
        (pl.Int64(), "double precision", False),
        (pl.Int32(), "smallint", True),
        (pl.String(), "varchar(3)", True),
    ],
)
def test_a_column_that_would_round_is_refused(
    postgres: PostgresServer, kind: pl.DataType, held: str, keeps: bool
) -> None:
    with postgres.connect() as connection:
        connection.execute("DROP TABLE IF EXISTS narrow")
        connection.execute(f"CREATE TABLE narrow (id bigint, v {held})")  # type: ignore[arg-type]
    columns = {"id": pl.Int64(), "v": kind}
    if keeps:
        opened(postgres, "narrow", columns).close()
        return
    with pytest.raises(ConnectorError, match=r"column 'v' is .*, and PostgreSQL's is .*, which would round its values"):
        opened(postgres, "narrow", columns)


def test_what_no_index_can_hold_and_what_takes_too_long_are_told(
    postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The client calls these errors operational, as it does a connection that broke: they were tried again for ever."""
    with postgres.connect() as connection:
        connection.execute("CREATE TABLE indexed (id bigint, word text UNIQUE)")
        connection.execute(
            "CREATE FUNCTION take_long() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(9); RETURN new; END'"
        )
        connection.execute("CREATE TABLE slow (id bigint, word text)")
        connection.execute("CREATE TRIGGER slow BEFORE INSERT ON slow FOR EACH ROW EXECUTE FUNCTION take_long()")
    words = "".join(chr(97 + number * number % 25) + str(number) for number in range(30_000))
    sink = opened(postgres, "indexed", ROWS)
    sink.write(1, rows((1, words)))
    with pytest.raises(ConnectorError, match=r"index row (size|requires)"):
        sink.flush()
    sink.close()
    monkeypatch.setattr(client, "_CANCELLED_MOST", 2)
    with postgres.connect() as connection:
        connection.execute("ALTER ROLE ouzel SET statement_timeout = 300")
    try:
        sink = opened(postgres, "slow", ROWS)
        sink.write(2, rows((1, "a")))
        with pytest.raises(ConnectorError, match="canceling statement due to statement timeout"):
            sink.flush()
    finally:
        with postgres.connect() as connection:
            connection.execute("ALTER ROLE ouzel RESET statement_timeout")
    sink.close()


def test_wrong_options_are_refused() -> None:
    for options, message in [
        ({"url": "postgresql://a:secret@h/d"}, r"'url' cannot hold a password; write 'password' = '\$\{env:NAME\}'"),
        ({"url": "mysql://h/d"}, "'url' cannot be 'mysql://h/d'; write 'postgresql://host:5432/database'"),
        ({"url": "postgresql://h/"}, "'url' cannot be 'postgresql://h/'"),
        ({"tls.mode": "disable", "tls.ca.path": "x"}, "certificates have no effect with 'tls.mode' = 'disable'"),
        ({"merge": "n:avg"}, "'merge' cannot hold 'n:avg'; write 'column:aggregate' of sum, min, max, bool_and, bool_or"),
    ]:  # fmt: skip
        with pytest.raises(QueryError, match=message):
            check_options(CONNECTORS["postgres"], {"url": "postgresql://h/d", "table": "t", **options})


def test_windows_replace_their_rows_when_the_query_runs_again(postgres: PostgresServer, tmp_path: Path) -> None:
    times = [datetime(2024, 1, day, hour) for day in (1, 2) for hour in range(3)]
    pl.DataFrame({"ts": times}, schema={"ts": pl.Datetime("us")}).write_parquet(tmp_path / "e.parquet")
    job = ouzel.query(
        f"""
        CREATE TABLE events (ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
        WITH ('connector' = 'file', 'path' = 'e.parquet', 'format' = 'parquet');
        CREATE TABLE days (day DATE, n BIGINT, PRIMARY KEY (day) NOT ENFORCED)
        WITH ('connector' = 'postgres', 'url' = '{postgres.url}', 'table' = 'days', 'create' = 'true',
              'password' = '${{env:STORE_PASSWORD}}');
        INSERT INTO days SELECT CAST(window_start AS DATE), COUNT(*)
        FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '1' DAY)) GROUP BY window_start, window_end
        """,
        tmp_path,
    )
    assert job.program.sinks[0].label == "Sink days (postgres, upsert by (day))"
    for _ in range(2):
        ouzel.run(job, "memory")
        assert content(postgres, "days") == [(date(2024, 1, 1), 3), (date(2024, 1, 2), 3)]
