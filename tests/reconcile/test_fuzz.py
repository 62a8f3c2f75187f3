"""Random faults in recorded runs of every example: a value, a row, a part, a type, an order, a source. None is excused."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from ouzel.errors import OuzelError
from ouzel.reconcile import reconcile, reconciliation, record_run
from ouzel.reconcile.answers import batch_answer, choose_sink
from ouzel.reconcile.record import RESULTS, SENT_AGAIN, Loss, RunRecord, read_record
from ouzel.session import Job, load
from tests.reconcile.planting import seal
from tests.reconcile.test_kills import INPUTS, at_home

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.slow]

FORMS = {"late_carriers as CSV": "csv", "late_carriers as JSON": "json"}
SEEDS = 10
"""Faults an example; each in a run with its own event."""

EVENTS: tuple[Callable[[RunRecord], RunRecord], ...] = (
    lambda record: record,
    lambda record: told(record, "replayed", SENT_AGAIN, 250),
    lambda record: told(record, "replayed", "a source was started again", 1),
    lambda record: replace(told(record, "state-lost", "x", 1), losses=(Loss("elsewhere", 0, 2, 1, 2),)),
    lambda record: replace(told(record, "late-rows", "x", 3), delivery="at-most-once"),
)


def told(record: RunRecord, kind: str, text: str, count: int) -> RunRecord:
    """The record with one event more."""
    return replace(record, events=(*record.events, (kind, text, count)))


@dataclass(frozen=True)
class Recorded:
    """A run of an example, and what the batch job answers, which is asked for once."""

    job: Job
    home: Path
    batch: Path

    @property
    def parts(self) -> list[Path]:
        """The files of the stream's answer."""
        names = [Path(name) for name in read_record(self.home).answer]
        return sorted(self.home / name if not name.is_absolute() else name for name in names)


@pytest.fixture(scope="module", params=[*sorted(INPUTS), *FORMS])
def recorded(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, spark: SparkSession) -> Recorded:
    """Each example, run once."""
    directory = tmp_path_factory.mktemp("example")
    query, _ = at_home(request.param.partition(" ")[0], directory)
    form = FORMS.get(request.param, "parquet")
    into = "'path' = 'data/late_carriers', 'format' = '{}'"
    query.write_text(query.read_text().replace(into.format("parquet"), into.format(form)))
    job = load(query, (("batch.rows", "20000"),))
    record_run(job, "memory", directory / "record")
    sink = choose_sink(job.program)
    batch_answer(job, sink, read_record(directory / "record").ranges, spark).write.parquet(str(directory / "batch"))
    return Recorded(job, directory / "record", directory / "batch")


@contextmanager
def kept(run: Recorded) -> Iterator[None]:
    """What is done inside is undone."""
    record = read_record(run.home)
    files = [*run.parts, *map(Path, record.sources)]
    copies = {path: (path.is_symlink(), path.resolve().read_bytes()) for path in files}
    links = {path: path.resolve() for path in files if path.is_symlink()}
    folders = {path.parent for path in run.parts}
    there = {path for folder in folders for path in folder.iterdir()}
    try:
        yield
    finally:
        for path, (_, content) in copies.items():
            path.unlink(missing_ok=True)
            path.symlink_to(links[path]) if path in links else path.write_bytes(content)
        for path in {path for folder in folders for path in folder.iterdir()} - there:
            path.unlink()
        record.save(run.home)


Fault = Callable[[Recorded, Random], None]


def rewritten(change: Callable[[pl.DataFrame, Random], pl.DataFrame]) -> Fault:
    """A fault in the rows of a part, which the run itself may have made."""

    def fault(run: Recorded, random: Random) -> None:
        part = random.choice(run.parts)
        read, write = CODECS[part.suffix]
        frame = read(part)
        write(frame, part)
        before = part.read_bytes()
        while part.read_bytes() == before:  # in text a type may be spelt as another
            write(change(frame, random), part)
        seal(run.home)

    return fault


CODECS: dict[str, tuple[Callable[[Path], pl.DataFrame], Callable[[pl.DataFrame, Path], Any]]] = {
    ".parquet": (pl.read_parquet, pl.DataFrame.write_parquet),
    ".csv": (lambda path: pl.read_csv(path, infer_schema=False), pl.DataFrame.write_csv),
    ".json": (pl.read_ndjson, pl.DataFrame.write_ndjson),
}


def a_value(frame: pl.DataFrame, random: Random) -> pl.DataFrame:
    """Another number, time or text, or none, somewhere."""
    name, row = random.choice(frame.columns), random.randrange(frame.height)
    other = pl.lit(None, frame.schema[name])
    if random.random() < 0.7 and frame[name][row] is not None:
        other = changed(pl.col(name), frame.schema[name], random)
    elif frame[name][row] is None:
        other = (
            pl.lit("1").cast(frame.schema[name])
            if not frame.schema[name].is_temporal()
            else pl.lit(0).cast(frame.schema[name])
        )
    here = pl.int_range(pl.len()) == row
    return frame.with_columns(pl.when(here).then(other).otherwise(pl.col(name)).alias(name))


def changed(value: pl.Expr, kind: pl.DataType, random: Random) -> pl.Expr:
    """Something else of this type."""
    if kind == pl.String:
        return value + random.choice("0x")
    if kind.is_float():
        return value * random.choice([1.001, -1.5]) + 1e-3
    if kind.is_temporal():
        return (value.cast(pl.Int64) + random.choice([1, -1])).cast(kind)
    return value + random.choice([1, -1, 1_000])


def a_row(frame: pl.DataFrame, random: Random) -> pl.DataFrame:
    """A row less, or one twice."""
    row = random.randrange(frame.height)
    rest = frame.filter(pl.int_range(pl.len()) != row)
    return rest if random.random() < 0.5 else pl.concat([frame, frame[row]])


def another_type(frame: pl.DataFrame, random: Random) -> pl.DataFrame:
    """The same values in a column of another type."""
    numbers = [name for name, kind in frame.schema.items() if kind.is_numeric()]
    name = random.choice(numbers or frame.columns)
    kinds: list[Any] = [pl.Float64, pl.Float32, pl.Int64, pl.Int16, pl.Decimal(30, 5), pl.String]
    return frame.cast({name: random.choice([kind for kind in kinds if kind != frame.schema[name]])}, strict=False)


def a_column(frame: pl.DataFrame, random: Random) -> pl.DataFrame:
    """A column under another name, or under another's."""
    one, other = random.sample(frame.columns, 2)
    return frame.rename({one: other, other: one} if random.random() < 0.5 else {one: f"{one}_"})


def a_part(run: Recorded, random: Random) -> None:
    """A part is gone, empty, cut, edited, there twice; and the run has nothing to do with that."""
    part = random.choice(run.parts)
    content = part.read_bytes()
    place = random.randrange(len(content))
    damage: list[Callable[[], object]] = [
        part.unlink,
        lambda: part.write_bytes(b""),
        lambda: part.write_bytes(content[:place]),
        lambda: part.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :]),
    ]
    if part.name != RESULTS:
        damage.append(lambda: shutil.copy(part, part.with_name(f"{part.stem}-again{part.suffix}")))
    random.choice(damage)()


def a_source(run: Recorded, random: Random) -> None:
    """The input is another than was read."""
    source = Path(random.choice(sorted(read_record(run.home).sources)))
    content = source.read_bytes()
    source.unlink()
    place = random.randrange(len(content))
    random.choice([
        lambda: None,
        lambda: source.write_bytes(content[:place]),
        lambda: source.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :]),
    ])()  # fmt: skip


FAULTS: dict[str, Fault] = {
    "value": rewritten(a_value),
    "row": rewritten(a_row),
    "type": rewritten(another_type),
    "order": rewritten(a_column),
    "part": a_part,
    "source": a_source,
}
SEED_OF = [*FAULTS, "value", "row", "part", "value"]
assert len(SEED_OF) == SEEDS


@pytest.mark.parametrize("seed", range(SEEDS))
def test_no_fault_is_excused(
    seed: int, recorded: Recorded, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    def answered(*_: object) -> DataFrame:
        return spark.read.parquet(str(recorded.batch))

    monkeypatch.setattr(reconciliation, "batch_answer", answered)
    random = Random(f"{seed} {recorded.job.topology.name}")
    with kept(recorded):
        random.choice(EVENTS)(read_record(recorded.home)).save(recorded.home)
        FAULTS[SEED_OF[seed]](recorded, random)
        result = None
        with suppress(OuzelError):
            result = reconcile(recorded.job, recorded.home, spark)
        assert result is None or not result.explained, (result.counts, result.record.events)


def test_nothing_else_differs(recorded: Recorded, spark: SparkSession) -> None:
    result = reconcile(recorded.job, recorded.home, spark)
    assert result.explained, (result.counts, result.tampered)
    assert not result.tampered
