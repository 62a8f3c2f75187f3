"""What waits in a file that is followed, how much, and for how long; against plain models."""

from __future__ import annotations

from pathlib import Path
from random import Random

import polars as pl
import pytest

from ouzel.connectors.backlog import MARKS_MAX, Backlog, PartitionExtent, UnreadAge
from ouzel.connectors.file import CONNECTOR
from ouzel.connectors.file.followed import SIZE_S
from ouzel.connectors.file.following import Following
from ouzel.connectors.file.text import TextReader
from ouzel.connectors.options import TableOptions
from ouzel.connectors.reading import ReadBatch, SourceRequest
from tests.connectors.fake_disk import FakeDisk, Inode
from tests.effort import seeds


class Log:
    """A file that is followed, on a disk in memory, and its reader."""

    def __init__(self, data: bytes = b"", form: str = "raw", offset: int | None = None) -> None:
        self.disk = FakeDisk()
        self.file: Inode = self.disk.create("/logs/a")
        self.disk.write(self.file, data)
        following = Following("/logs/*", Path("/"), disk=self.disk)
        (part,) = following.partitions()
        content = following.content(part.id)
        options = {"connector": "file", "path": "/logs/*", "format": form, "follow": "true"}
        request = SourceRequest("t", options, {"line": pl.String()}, Path("/"))
        self.reader = TextReader(request, TableOptions(CONNECTOR, options), "/logs/a", offset, lambda: content)
        self.content = content

    def append(self, data: bytes) -> None:
        self.disk.write(self.file, self.file.data + data)

    def read(self, rows: int) -> int:
        """How many records come."""
        batch = self.reader.read(rows)
        return batch.end - batch.start if isinstance(batch, ReadBatch) else 0

    def look(self) -> tuple[int | None, Backlog | None, PartitionExtent | None]:
        """What is told once an older size does not count."""
        self.disk.time += SIZE_S
        lag = self.reader.lag()
        return lag, next(iter(self.reader.backlogs()), None), self.reader.extent()


@pytest.mark.parametrize("seed", seeds())
def test_bytes_that_wait_are_exact_and_records_are_where_lines_are_alike(seed: int) -> None:
    random, log = Random(seed), Log()
    width, given, written = random.randint(1, 40), 0, 0
    for _ in range(random.randint(1, 60)):
        match random.choice(("write", "half", "read", "read")):
            case "write":
                log.append(b"")
                rest = -len(log.file.data) % width
                count = random.randint(1, 50)
                log.append((b"x" * (width - 1) + b"\n")[width - rest :] + count * (b"x" * (width - 1) + b"\n"))
            case "half" if width > 1:
                log.append(b"x" * min(1, width - 1 - len(log.file.data) % width))
            case _:
                given += log.read(random.randint(1, 30))
        written = len(log.file.data) // width
        lag, backlog, extent = log.look()
        if lag is None:
            assert not given, "it was not looked into"
            continue
        assert extent == (given * width, len(log.file.data)), f"replay with seed={seed}"
        assert backlog == Backlog("/logs/a", lag, len(log.file.data) - given * width)
        if given or not written:
            assert written - given <= lag <= written - given + 1, (
                f"half a line may count as one; replay with seed={seed}"
            )
    while read := log.read(1_000):
        given += read
    assert (given, log.look()[0]) == (written, 0 if log.reader.extent() else None)


def test_lines_behind_what_was_looked_into_count_by_the_mean_of_those_before() -> None:
    log = Log(b"aaaaaaaaa\n" * 10)
    assert log.look() == (None, None, None), "nothing is known of its lines"
    assert log.read(4) == 4
    assert log.look() == (6, Backlog("/logs/a", 6, 60), PartitionExtent(40, 100))
    log.append(b"b\n" * 100)
    assert log.look() == (6 + 20, Backlog("/logs/a", 26, 260), PartitionExtent(40, 300))
    assert log.read(1_000) == 106
    assert log.look() == (0, Backlog("/logs/a", 0, 0), PartitionExtent(300, 300))
    log.append(b"c\n")
    assert log.look()[0] == 1, "a line that is shorter than the mean is one"


def test_a_size_is_asked_for_once_a_second_and_of_a_file_that_is_gone_it_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    log = Log(b"a\n")
    log.read(1)
    log.append(b"b\n")
    assert log.reader.lag() == 0, "nobody has asked since"
    assert log.look()[0] == 1
    log.content.close()
    log.disk.unlink("/logs/a")
    assert log.look()[0] == 1


def test_a_file_that_is_not_followed_tells_nothing(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"a\nb\n")
    options = {"connector": "file", "path": "a", "format": "raw"}
    request = SourceRequest("t", options, {"line": pl.String()}, tmp_path)
    reader = TextReader(request, TableOptions(CONNECTOR, options), str(tmp_path / "a"), None)
    assert isinstance(reader.read(1), ReadBatch)
    assert (reader.lag(), reader.backlogs(), reader.extent()) == (None, [], None)


@pytest.mark.parametrize("seed", seeds())
def test_the_age_is_never_too_much_and_hardly_too_little(seed: int) -> None:
    random, age = Random(seed), UnreadAge()
    read = there = 0
    came: list[float] = []
    for look in range(random.choice((50, 1_000, 4_000))):
        now_ms = 500.0 * look
        if random.random() < 0.5:
            there += random.randint(1, 9)
            came += [now_ms] * (there - len(came))
        if random.random() < random.choice((0.05, 0.3)):
            read = min(there, read + random.randint(1, 40))
        waits = now_ms - came[read] if read < there else 0.0
        told = age.observe(PartitionExtent(read, there), now_ms)
        assert told <= waits, f"replay with seed={seed}"
        assert told >= waits - 4 * (500.0 * look) / MARKS_MAX, f"replay with seed={seed}"


def test_the_age_begins_anew_with_what_takes_the_place_of_what_was_there() -> None:
    age = UnreadAge()
    assert age.observe(PartitionExtent(0, 10), 0) == 0
    assert age.observe(PartitionExtent(0, 10), 5_000) == 5_000
    assert age.observe(PartitionExtent(0, 4), 6_000) == 0
    assert age.observe(PartitionExtent(4, 4), 7_000) == 0
    assert age.observe(PartitionExtent(4, 5), 8_000) == 0
    assert age.observe(PartitionExtent(2, 5), 9_000) == 1_000, "it is read again from before"
