"""Random faults in recorded runs of every example: a value, a row, a part, a type, an order, a source. None is excused.

`make faults` plants others every day, `make faults SEED=7` always the same.
"""

from __future__ import annotations

import os
import shutil
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date, timedelta
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from ouzel.errors import OuzelError
from ouzel.reconcile import Reconciliation, reconcile, reconciliation, record_run
from ouzel.reconcile.comparing.answers import batch_answer, choose_sink
from ouzel.reconcile.recording.record import RESULTS, SENT_AGAIN, Loss, RunRecord, read_record
from ouzel.session import Job, load
from tests.reconcile.planting import kept, parts_in, seal
from tests.reconcile.test_kills import EXAMPLES, INPUTS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.slow]

SEED = os.environ.get("FAULT_SEED", "0")
FORMS = {"late_carriers as CSV": "csv", "late_carriers as JSON": "json"}
FAULTY_ROWS = 12
"""So many rows of a run are changed at once: each is to be told of."""

SHARE = 40
"""One of so many records is enough."""

WHOLE = ("weather.parquet",)
"""Not of these: storms are few."""

ANSWERED = 12
"""So many rows each example answers with at least: where there is none, there is nothing to plant a fault in."""

TRIES = 100

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
        return parts_in(self.home)


def some_input(name: str, directory: Path) -> Path:
    """The example in a directory of its own, over a share of its input."""
    query = directory / f"{name}.sql"
    text = (EXAMPLES / query.name).read_text()
    query.write_text(text.replace("> 10000", f"> {10_000 // SHARE}").replace(">= 20", ">= 1"))
    (directory / "data").mkdir()
    shutil.copy(EXAMPLES / "claims.csv", directory)
    for table in INPUTS[name]:
        source, target = EXAMPLES / "data" / table, directory / "data" / table
        if table in WHOLE:
            shutil.copy(source, target)
        elif table.endswith(".parquet"):
            pl.scan_parquet(source).gather_every(SHARE).sink_parquet(target)
        else:
            target.write_bytes(b"".join(source.read_bytes().splitlines(keepends=True)[::SHARE]))
    return query


@pytest.fixture(scope="module", params=[*sorted(INPUTS), *FORMS])
def recorded(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, one_partition: SparkSession
) -> Recorded:
    """Each example, run once."""
    directory = tmp_path_factory.mktemp("example")
    query = some_input(request.param.partition(" ")[0], directory)
    form = FORMS.get(request.param, "parquet")
    into = "'path' = 'data/late_carriers', 'format' = '{}'"
    query.write_text(query.read_text().replace(into.format("parquet"), into.format(form)))
    job = load(query, (("batch.rows", "2000"),))
    record_run(job, "memory", directory / "record")
    parts = parts_in(directory / "record")
    assert sum(CODECS[part.suffix][0](part).height for part in parts) >= ANSWERED, "the test tests nothing"
    sink = choose_sink(job.program)
    batch_answer(job, sink, read_record(directory / "record").ranges, one_partition, {}).write.parquet(
        str(directory / "batch")
    )
    return Recorded(job, directory / "record", directory / "batch")


CODECS: dict[str, tuple[Callable[[Path], pl.DataFrame], Callable[[pl.DataFrame, Path], Any]]] = {
    ".parquet": (pl.read_parquet, pl.DataFrame.write_parquet),
    ".csv": (lambda path: pl.read_csv(path, infer_schema=False), pl.DataFrame.write_csv),
    ".json": (pl.read_ndjson, pl.DataFrame.write_ndjson),
}


def rewritten(
    run: Recorded, part: Path, change: Callable[[pl.DataFrame], pl.DataFrame]
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """A part with other rows, as if the run itself had made them; what it held, and what it holds."""
    read, write = CODECS[part.suffix]
    before = read(part)
    write(before, part)
    same = part.read_bytes()
    for _ in range(TRIES):  # in text a type may be spelt as another
        after = change(before)
        write(after, part)
        if part.read_bytes() != same:
            seal(run.home)
            return before, after
    raise AssertionError("nothing was changed: the test tests nothing")


def with_faults(frame: pl.DataFrame, random: Random) -> pl.DataFrame:
    """Some rows gone, some twice, and of some one value is another, or none."""
    rows = frame.rows()
    for number in sorted(random.sample(range(len(rows)), min(FAULTY_ROWS, len(rows) // 2)), reverse=True):
        match random.choice(["gone", "twice", "value", "value"]):
            case "gone":
                del rows[number]
            case "twice":
                rows.append(rows[number])
            case _:
                place = random.randrange(frame.width)
                other = another(rows[number][place], [row[place] for row in rows], random)
                rows[number] = (*rows[number][:place], other, *rows[number][place + 1 :])
    return pl.DataFrame(rows, frame.schema, orient="row")


def another(value: Any, column: list[Any], random: Random) -> Any:
    """Another value of this type, or NULL."""
    if value is None:
        return next((each for each in column if each is not None), None)
    if random.random() < 0.3:
        return None
    match value:
        case str():  # the last letter is another, so that a number or a time in text stays one
            return value[:-1] + (str((int(value[-1]) + 1) % 10) if value[-1:].isdigit() else "~")
        case float():
            return value * random.choice([1.001, -1.5]) + 1e-3
        case date():
            return value + timedelta(days=random.choice([1, -1]))
    return value + random.choice([1, -1, 1_000])


def another_type(run: Recorded, random: Random) -> None:
    """The same values in a column of another type."""
    kinds: list[Any] = [pl.Float64, pl.Float32, pl.Int64, pl.Int16, pl.Decimal(30, 5), pl.String]

    def change(frame: pl.DataFrame) -> pl.DataFrame:
        name = random.choice([name for name, kind in frame.schema.items() if kind.is_numeric()] or frame.columns)
        return frame.cast({name: random.choice([kind for kind in kinds if kind != frame.schema[name]])}, strict=False)

    rewritten(run, random.choice(run.parts), change)


def another_name(run: Recorded, random: Random) -> None:
    """A column under another name, or under another's."""

    def change(frame: pl.DataFrame) -> pl.DataFrame:
        one, other = random.sample(frame.columns, 2)
        alike = [name for name in frame.columns if name != one and frame.schema[name] == frame.schema[one]]
        other = random.choice(alike) if alike and random.random() < 0.5 else other
        return frame.rename({one: other, other: one} if random.random() < 0.7 else {one: f"{one}_"})

    rewritten(run, random.choice(run.parts), change)


def another_part(run: Recorded, random: Random) -> None:
    """A part is gone, empty, cut, edited, there twice; and the run has nothing to do with that."""
    part = random.choice(run.parts)
    damage: list[Callable[[], object]] = [part.unlink, lambda: part.write_bytes(b""), *damaged(part, random)]
    if part.name != RESULTS:
        damage.append(lambda: shutil.copy(part, part.with_name(f"{part.stem}-again{part.suffix}")))
    random.choice(damage)()


def another_source(run: Recorded, random: Random) -> None:
    """The input is another than was read."""
    source = Path(random.choice(sorted(read_record(run.home).sources)))
    random.choice([source.unlink, *damaged(source, random)])()


def damaged(path: Path, random: Random) -> list[Callable[[], object]]:
    """A file is cut somewhere, or a bit of it is another."""
    content = path.read_bytes()
    place = random.randrange(len(content))
    flipped = content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :]
    return [lambda: path.write_bytes(content[:place]), lambda: path.write_bytes(flipped)]


@pytest.fixture
def judged(
    recorded: Recorded, one_partition: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> Callable[[], Reconciliation]:
    """The reconciliation, with the batch job's answer as it was."""

    def answered(*_: object) -> DataFrame:
        return one_partition.read.parquet(str(recorded.batch))

    monkeypatch.setattr(reconciliation, "batch_answer", answered)
    return lambda: reconcile(recorded.job, recorded.home, one_partition)


def test_every_faulty_row_is_told_of_and_no_other(recorded: Recorded, judged: Callable[[], Reconciliation]) -> None:
    random = Random(f"{SEED} {recorded.job.topology.name} rows")
    with kept(recorded.home):
        random.choice(EVENTS)(read_record(recorded.home)).save(recorded.home)
        part = max(recorded.parts, key=lambda part: part.stat().st_size)
        before, after = rewritten(recorded, part, lambda frame: with_faults(frame, random))
        result = judged()
        there, were = Counter(map(repr, after.rows())), Counter(map(repr, before.rows()))
        kinds = [kind.value for kind in result.counts if not kind.explained]
        unexplained = result.differences.where(result.differences["class"].isin(kinds)).selectExpr(
            "count(stream)", "count(batch)"
        )
        found = tuple(unexplained.collect()[0])
        assert found == ((there - were).total(), (were - there).total()), (SEED, result.counts, result.record.events)
        assert sum(found) >= FAULTY_ROWS or before.height < 2 * FAULTY_ROWS


@pytest.mark.parametrize("fault", [another_type, another_name, another_part, another_source])
def test_no_fault_of_files_is_excused(
    fault: Callable[[Recorded, Random], None], recorded: Recorded, judged: Callable[[], Reconciliation]
) -> None:
    random = Random(f"{SEED} {recorded.job.topology.name} {fault.__name__}")
    with kept(recorded.home):
        random.choice(EVENTS)(read_record(recorded.home)).save(recorded.home)
        fault(recorded, random)
        try:
            result = judged()
        except OuzelError:
            return
        assert not result.explained, (SEED, result.counts, result.record.events)


def test_nothing_else_differs(judged: Callable[[], Reconciliation]) -> None:
    result = judged()
    assert result.explained, (result.counts, result.tampered)
    assert not result.tampered
