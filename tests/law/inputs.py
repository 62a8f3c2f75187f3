"""The law's input tables: small, seeded, awkward. Parquet, JSON lines and CSV, in a folder `data` beside the query.

Rows of `events`, `orders` and `words` are out of order by less than the 10 s that their watermarks allow; `late` is not.
"""

from __future__ import annotations

import datetime as dt
import json
import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from itertools import groupby, islice
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

START = dt.datetime(2024, 2, 28, 23, 40)
"""Event time starts so that the tables cross midnight and a leap day."""

KINDS = ("click", "view", "buy", "naïve", "日本語", "🐦 ouzel", "", 'it\'s; "quoted"')
CITIES = ("Athens", "Łódź", "São Paulo", "東京", "")

Random = np.random.Generator


def write_inputs(directory: Path, rows: int = 1200, seed: int = 7) -> None:
    """Write every table under `directory`/data; the same bytes for the same arguments."""
    data = directory / "data"
    data.mkdir(parents=True)
    random = np.random.default_rng(seed)
    parts = _events(random, rows)
    for number in range(3):
        parts[number::3].write_parquet(data / f"events-{number}.parquet")
    _json_lines(data / "orders-0.jsonl", _orders(random, rows // 4, first=0))
    _json_lines(data / "orders-1.jsonl", _orders(random, rows // 4, first=rows // 4))
    _words(random, rows).write_csv(data / "words.csv", include_header=True)
    _types(random).write_parquet(data / "types.parquet")
    parts.head(0).write_parquet(data / "nothing.parquet")
    parts.head(1).write_parquet(data / "single.parquet")
    for number in range(2):
        changes = list(_changes(random, rows // 4, [*range(number, 60, 2)]))
        _json_lines(data / f"accounts-{number}.jsonl", changes)
        _json_lines(data / f"maxwell-{number}.jsonl", [_of_maxwell(change) for change in changes])
        _json_lines(data / f"canal-{number}.jsonl", list(_of_canal(changes)))
    _json_lines(data / "late.jsonl", _late(random, rows // 2))
    profiles = list(_profiles(random, rows))
    for number in range(2):
        _json_lines(data / f"profiles-{number}.jsonl", profiles[number * rows // 2 : (number + 1) * rows // 2])
    _write_visits(random, data / "visits", rows)


def _stamp(step_ms: int, number: int, jitter_ms: int) -> dt.datetime:
    return START + dt.timedelta(milliseconds=step_ms * number - jitter_ms)


def _choose(random: Random, values: Sequence[Any], size: int, nulls: float) -> list[Any]:
    picked = random.integers(0, len(values), size)
    empty = random.random(size) < nulls
    return [None if gap else values[index] for index, gap in zip(picked, empty, strict=True)]


def _nulls(random: Random, values: list[Any], share: float) -> list[Any]:
    return [None if gap else value for value, gap in zip(values, random.random(len(values)) < share, strict=True)]


def _events(random: Random, rows: int) -> pl.DataFrame:
    users = np.where(random.random(rows) < 0.6, 1, random.integers(2, 40, rows)).tolist()  # one hot key
    tags = [_choose(random, ("a", "b", "c", "ünï"), int(size), 0.2) for size in random.integers(0, 4, rows)]
    columns: dict[str, tuple[list[Any], Any]] = {
        "id": (list(range(rows)), pl.Int64),
        "ts": ([_stamp(2000, n, int(random.integers(0, 8000))) for n in range(rows)], pl.Datetime("ms")),
        "user_id": (_nulls(random, users, 0.05), pl.Int32),
        "kind": (_choose(random, KINDS, rows, 0.1), pl.String),
        "amount": (_nulls(random, (random.normal(0, 100, rows)).tolist(), 0.1), pl.Float64),
        "price": (_decimals(random, rows, 10_000_00, 2), pl.Decimal(10, 2)),
        "quantity": (random.integers(0, 21, rows).tolist(), pl.Int32),
        "flag": (_choose(random, (True, False), rows, 0.1), pl.Boolean),
        "tags": (_nulls(random, tags, 0.1), pl.List(pl.String)),
    }
    return pl.DataFrame({name: pl.Series(name, values, kind) for name, (values, kind) in columns.items()})


def _decimals(random: Random, rows: int, limit: int, scale: int) -> list[Decimal | None]:
    units = random.integers(-limit, limit, rows).tolist()
    return _nulls(random, [Decimal(unit).scaleb(-scale) for unit in units], 0.1)


def _orders(random: Random, rows: int, first: int) -> list[dict[str, Any]]:
    return [_order(random, first + number, number) for number in range(rows)]


def _order(random: Random, number: int, step: int) -> dict[str, Any]:
    time = _stamp(5000, step, int(random.integers(0, 9000))) + dt.timedelta(microseconds=int(random.integers(0, 1000)))
    lines = [{"sku": f"s{int(random.integers(0, 9))}", "n": int(random.integers(1, 6))} for _ in range(number % 4)]
    return {
        "order_id": number,
        "customer": _choose(random, ("ann", "bob", "Ćeline", "dan"), 1, 0.1)[0],
        "total": f"{Decimal(int(random.integers(0, 10**9))).scaleb(-4)}",
        "discount": None if number % 7 == 0 else round(float(random.random()), 6),
        "ordered": (time + dt.timedelta(days=number % 40)).date().isoformat(),
        "ts": time.isoformat(sep=" ", timespec="microseconds"),
        "address": None if number % 11 == 0 else {"city": _choose(random, CITIES, 1, 0.1)[0], "zip": number % 100},
        "items": None if number % 13 == 0 else lines,
        "labels": {"tier": "gold" if number % 3 else "tin", "n": str(number % 5)},
    }


def _changes(random: Random, count: int, ids: Sequence[int]) -> Iterator[dict[str, Any]]:
    """What became of some accounts, as Debezium tells it: opened, changed, closed, and opened again."""
    held: dict[int, dict[str, Any]] = {}
    for number in range(count):
        key = int(random.choice(ids))
        before, after = held.pop(key, None), None
        if before is None or random.random() < 0.7:
            after = held[key] = {**(before or {}), **_account(random, key, number)}
        code = "r" if number < 10 and before is None else "c" if before is None else "u" if after else "d"
        yield {"before": before, "after": after, "op": code, "ts_ms": number, "source": {"table": "accounts"}}


def _changed_fields(change: dict[str, Any]) -> dict[str, Any]:
    before, after = change["before"] or {}, change["after"] or {}
    return {name: before[name] for name in before.keys() & after if before[name] != after[name]}


def _of_maxwell(change: dict[str, Any]) -> dict[str, Any]:
    """The change as Maxwell tells it: of an update what the changed fields were."""
    kind = {"r": "bootstrap-insert", "c": "insert", "u": "update", "d": "delete"}[change["op"]]
    told = {"database": "bank", "table": "accounts", "type": kind, "data": change["after"] or change["before"]}
    return told if kind != "update" else {**told, "old": _changed_fields(change)}


def _of_canal(changes: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The changes as Canal tells them: all values as text, and up to three of one kind in a record."""
    yield {"data": None, "isDdl": True, "type": "CREATE", "database": "bank", "table": "accounts"}
    kinds = {"r": "INSERT", "c": "INSERT", "u": "UPDATE", "d": "DELETE"}
    for kind, group in groupby(changes, key=lambda change: kinds[change["op"]]):
        while some := list(islice(group, 3)):
            data = [_as_texts(change["after"] or change["before"]) for change in some]
            old = [_as_texts(_changed_fields(change)) for change in some] if kind == "UPDATE" else None
            yield {"data": data, "old": old, "isDdl": False, "type": kind, "database": "bank", "table": "accounts"}


def _as_texts(row: dict[str, Any]) -> dict[str, Any]:
    return {name: str(value) if isinstance(value, int) else value for name, value in row.items()}


def _account(random: Random, key: int, number: int) -> dict[str, Any]:
    return {
        "id": key,
        "owner": _choose(random, ("ann", "bob", "Ćeline", "dan"), 1, 0.1)[0],
        "balance": None if random.random() < 0.1 else f"{Decimal(int(random.integers(-(10**6), 10**6))).scaleb(-2)}",
        "opened": _stamp(5000, number, 0).isoformat(sep=" ", timespec="milliseconds"),
        "address": None if random.random() < 0.1 else {"city": _choose(random, CITIES, 1, 0.1)[0], "zip": number % 100},
    }


def _profiles(random: Random, count: int) -> Iterator[dict[str, Any]]:
    """Records that replace each other by `id`, those of one id in both files; `gone` ones say that it is there no more."""
    for number in range(count):
        yield {
            "seq": number,
            "id": int(random.integers(0, 70)),
            "owner": _choose(random, ("ann", "bob", "Ćeline", "dan"), 1, 0.1)[0],
            "points": None if random.random() < 0.1 else int(random.integers(-50, 50)),
            "gone": _choose(random, (True, False), 1, 0.3)[0] if random.random() < 0.5 else None,
        }


def _write_visits(random: Random, folder: Path, rows: int) -> None:
    """In folders as Hive lays them out, `day=2024-02-29/gate=a%2Fb`; each file has a column `gate` of its own, which does not count."""
    days = _choose(random, [dt.date(2024, 2, 28) + dt.timedelta(days=n) for n in range(4)], rows, 0.1)
    gates = _choose(random, ("a/b", "100% é", "k=v: 'x'", "日本"), rows, 0.1)
    frame = pl.DataFrame(
        {"day": days, "gate": gates, "n": random.integers(0, 90, rows), "who": _choose(random, CITIES, rows, 0.1)}
    )
    for (day, gate), part in frame.group_by("day", "gate", maintain_order=True):
        place = folder / f"day={_named(day)}" / f"gate={_named(gate)}"
        place.mkdir(parents=True)
        part.drop("day").with_columns(gate=pl.lit("inside")).write_parquet(place / "part-0.parquet")


def _named(value: object) -> str:
    """A value as Hive names a folder by it."""
    return (
        "__HIVE_DEFAULT_PARTITION__"
        if value is None
        else re.sub(r"[\"#%'*/:=?\\{\[\]^]", lambda sign: f"%{ord(sign[0]):02X}", str(value))
    )


def _words(random: Random, rows: int) -> pl.DataFrame:
    words = ["the", "of", "ouzel", "stream", "über", "water"]
    skewed = random.zipf(1.6, rows * 2).clip(1, len(words)) - 1
    return pl.DataFrame({"word": [words[index] for index in skewed], "n": random.integers(-5, 100, rows * 2)})


def _types(random: Random) -> pl.DataFrame:
    tiny, small, whole, big = (([2 ** (b - 1) - 1, -(2 ** (b - 1)), 0, None, 7]) for b in (8, 16, 32, 64))
    day, time = dt.date(1999, 12, 31), dt.datetime(2000, 2, 29, 12, 34, 56, 789_000)
    edges: dict[str, tuple[list[Any], Any]] = {
        "t": (tiny, pl.Int8),
        "s": (small, pl.Int16),
        "i": (whole, pl.Int32),
        "b": (big, pl.Int64),
        "f": ([1.5, -0.0, None, 3.4e38, float("nan")], pl.Float32),
        "d": ([1e-300, None, float("inf"), -1.25, float("nan")], pl.Float64),
        "e": ([Decimal("1.0000000001"), Decimal("-99999999999999999999.5"), None, Decimal(0), Decimal(7)], pl.Decimal(38, 10)),
        "v": (["", "é", None, " x ", "A%_b"], pl.String),
        "y": ([b"", b"\x00\xff", None, b"abc", "é".encode()], pl.Binary),
        "a": ([day, dt.date(1970, 1, 1), None, dt.date(2024, 2, 29), dt.date(1582, 10, 15)], pl.Date),
        "m": ([time, dt.datetime(1969, 12, 31, 23, 59, 59, 999_000), None, time, dt.datetime(1970, 1, 1)], pl.Datetime("ms")),
        "z": ([time, dt.datetime(1969, 12, 31, 23, 59, 59, 999_000), None, time, dt.datetime(1970, 1, 1)], pl.Datetime("ms", "UTC")),
        "g": ([True, False, None, True, None], pl.Boolean),
    }  # fmt: skip
    picks = random.integers(0, 5, (len(edges), 60))
    frame = {
        name: pl.Series(name, [v[i] for i in row], kind)
        for (name, (v, kind)), row in zip(edges.items(), picks, strict=True)
    }
    return pl.DataFrame({"k": pl.Series(range(60), dtype=pl.Int32), **frame})


def _late(random: Random, rows: int) -> list[dict[str, Any]]:
    jitter = np.where(random.random(rows) < 0.1, random.integers(60_000, 600_000, rows), random.integers(0, 4000, rows))
    return [
        {"k": int(number % 5), "n": number, "ts": _stamp(2000, number, int(jitter[number])).isoformat(sep=" ", timespec="milliseconds")}
        for number in range(rows)
    ]  # fmt: skip


def _json_lines(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
