"""Rows that wait for their epoch: each is published once, whatever dies where, and nothing of a damaged file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from random import Random

import polars as pl
import pytest

from ouzel.errors import ConnectorError
from ouzel.runtime.checkpoints import staged
from ouzel.runtime.checkpoints.staged import StagedWriter


class Crash(BaseException):
    """A process dies here."""


class Server:
    """What is visible, and in which order it became so."""

    def __init__(self) -> None:
        self.epochs: list[int] = []
        self.rows: list[int] = []

    def last_published(self) -> int:
        return max(self.epochs, default=0)

    def publish(self, epoch: int, frames: Iterable[pl.DataFrame]) -> None:
        assert epoch > self.last_published()
        self.rows += [row for frame in frames for row in frame["n"]]
        self.epochs.append(epoch)

    def close(self) -> None:
        pass


def rows(*numbers: int) -> pl.DataFrame:
    return pl.DataFrame({"n": numbers})


def opened(folder: Path, server: Server, epoch: int = 0, generation: int = 0) -> StagedWriter:
    """A successor: the one before it has ended, which closed its files."""
    if folder in LIVING:
        LIVING.pop(folder).close()
    writer = LIVING[folder] = StagedWriter(server, folder, "t")
    writer.roll_back(epoch, generation)
    return writer


LIVING: dict[Path, StagedWriter] = {}
"""The writer of each folder."""


@pytest.fixture(autouse=True)
def close_files() -> Iterator[None]:
    yield
    while LIVING:
        LIVING.popitem()[1].close()


def test_rows_are_visible_when_their_epoch_is_kept_and_not_before(tmp_path: Path) -> None:
    server = Server()
    writer = opened(tmp_path, server)
    writer.on_kept(0)
    writer.write(1, rows(1, 2))
    writer.mark(1, 0)
    writer.write(2, rows(3))
    assert server.rows == []
    writer.on_kept(1)
    assert (server.rows, server.epochs) == ([1, 2], [1])
    writer.mark(2, 1)
    writer.mark(3, 1)
    writer.on_kept(3)
    assert (server.rows, server.epochs) == ([1, 2, 3], [1, 2])


def test_an_epoch_that_was_given_up_is_published_with_the_next(tmp_path: Path) -> None:
    server = Server()
    writer = opened(tmp_path, server)
    for epoch in (1, 2):
        writer.write(epoch, rows(epoch))
        writer.mark(epoch, 0)
    writer.on_kept(2)
    assert server.rows == [1, 2]


def test_a_batch_that_comes_again_to_a_successor_is_staged_once(tmp_path: Path) -> None:
    server = Server()
    opened(tmp_path, server).write(-7, rows(1))
    writer = opened(tmp_path, server)
    writer.write(-7, rows(1))
    writer.write(8, rows(2))
    writer.mark(1, 0)
    writer.on_kept(1)
    assert server.rows == [1, 2]


def test_a_batch_that_is_published_is_known_when_it_comes_again(tmp_path: Path) -> None:
    """A source that dies before its offsets are committed sends it again, to this task or to its successor."""
    server = Server()
    writer = opened(tmp_path, server)
    for epoch in (1, 2, 3):
        writer.write(epoch, rows(epoch))
        writer.mark(epoch, 0)
        writer.on_kept(epoch)
        for again in range(1, epoch + 1):
            writer.write(again, rows(again))
        writer = opened(tmp_path, server)
        for again in range(1, epoch + 1):
            writer.write(again, rows(again))
    writer.mark(4, 3)
    writer.on_kept(4)
    assert server.rows == [1, 2, 3]


def test_only_so_many_ids_are_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(staged, "REMEMBERED", 10)
    server = Server()
    writer = opened(tmp_path, server)
    for epoch in range(1, 200):
        writer.write(epoch, rows(epoch))
        writer.mark(epoch, epoch - 1)
        writer.on_kept(epoch)
    assert (tmp_path / "ids").stat().st_size < 2_000
    writer = opened(tmp_path, server)
    writer.write(195, rows(195))
    writer.mark(200, 199)
    writer.on_kept(200)
    assert server.rows == list(range(1, 200))


def test_a_roll_back_removes_what_came_after_the_epoch_once_a_generation(tmp_path: Path) -> None:
    server = Server()
    writer = opened(tmp_path, server)
    for epoch in (1, 2, 3):
        writer.write(epoch, rows(epoch))
        writer.mark(epoch, 0)
    writer.write(4, rows(4))
    writer = opened(tmp_path, server, epoch=2, generation=1)
    writer.write(3, rows(30))
    writer = opened(tmp_path, server, epoch=2, generation=1)
    writer.on_kept(2)
    assert server.rows == [1, 2]
    writer.mark(4, 2)
    writer.on_kept(4)
    assert server.rows == [1, 2, 30]


def test_what_is_published_is_not_published_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    server = Server()
    writer = opened(tmp_path, server)
    writer.write(1, rows(1))
    writer.mark(1, 0)
    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", die)
        with pytest.raises(Crash):
            writer.on_kept(1)
    writer = opened(tmp_path, server)
    writer.on_kept(1)
    assert (server.rows, list(tmp_path.glob("*.sealed"))) == ([1], [])


def die(*given: object, **named: object) -> None:
    raise Crash


def test_no_topology_goes_back_behind_what_is_published(tmp_path: Path) -> None:
    server = Server()
    writer = opened(tmp_path, server)
    writer.write(1, rows(1))
    writer.mark(2, 0)
    writer.on_kept(2)
    with pytest.raises(ConnectorError, match="table 't': epoch 2 is published, and the topology went back to epoch 1"):
        opened(tmp_path, server, epoch=1, generation=1).on_kept(1)


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "its last byte is gone": lambda text: text[:-1],
    "it is cut in the first record": lambda text: text[:40],
    "it is empty": lambda text: b"",
    "a byte is another": lambda text: text[:-50] + bytes([text[-50] ^ 1]) + text[-49:],
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=list(DAMAGES))
def test_nothing_of_a_damaged_file_is_published(tmp_path: Path, damage: Callable[[bytes], bytes]) -> None:
    server = Server()
    writer = opened(tmp_path, server)
    writer.write(1, rows(1))
    writer.write(2, rows(2))
    writer.mark(1, 0)
    (sealed,) = tmp_path.glob("*.sealed")
    sealed.write_bytes(damage(sealed.read_bytes()))
    with pytest.raises(ConnectorError, match="torn or damaged; go on from an epoch before 1 with"):
        writer.on_kept(1)
    assert server.rows == []


def test_a_full_disk_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    server, waits = Server(), list[float]()
    writer = opened(tmp_path, server)
    real = staged.os.write

    def half_then_full(file: int, text: bytes) -> int:
        if len(waits) < 3:
            real(file, text[: len(text) // 2])
            raise OSError(28, "No space left on device")
        return real(file, text)

    monkeypatch.setattr(staged.os, "write", half_then_full)
    monkeypatch.setattr(staged.time, "sleep", waits.append)
    writer.write(1, rows(1))
    writer.mark(1, 0)
    writer.on_kept(1)
    assert (server.rows, len(waits)) == ([1], 3)


def test_a_disk_that_is_full_while_ids_are_kept_costs_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    server, waits = Server(), list[float]()
    real = Path.write_bytes

    def half_then_full(path: Path, data: bytes) -> int:
        if len(waits) % 2 == 0:
            real(path, data[: len(data) // 2])
            raise OSError(28, "No space left on device")
        return real(path, data)

    writer = opened(tmp_path, server)
    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", half_then_full)
        patch.setattr(staged.time, "sleep", waits.append)
        for epoch in (1, 2):
            writer.write(epoch, rows(epoch))
            writer.mark(epoch, 0)
            writer.on_kept(epoch)
            waits.append(0)
    writer = opened(tmp_path, server)
    for again in (1, 2):
        writer.write(again, rows(again))
    writer.mark(3, 2)
    writer.on_kept(3)
    assert (server.rows, len(waits)) == ([1, 2], 4)


def test_wherever_it_dies_each_row_is_published_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Dies at each call of the system in turn, also amid those that repair what a death before left."""
    for seed in range(60):
        server, folder, random = Server(), tmp_path / str(seed), Random(seed)
        generation, kept, epoch, position = 0, 0, 0, {0: 0}
        while len(server.rows) < 12:
            with monkeypatch.context() as patch:
                plant_death(patch, random)
                try:
                    writer = opened(folder, server, kept, generation)
                    writer.on_kept(kept)
                    at = position[kept]
                    for _ in range(random.randint(1, 3)):
                        epoch += 1
                        for row in range(at, at + random.randint(0, 3)):
                            writer.write(row, rows(row))
                            at = row + 1
                        writer.flush()
                        writer.mark(epoch, kept)
                        if random.random() < 0.7:
                            kept, position[epoch] = epoch, at
                            writer.on_kept(kept)
                except Crash:
                    pass
            generation += 1
        assert server.rows == list(range(len(server.rows))), f"seed={seed}"


def plant_death(patch: pytest.MonkeyPatch, random: Random) -> None:
    left = [random.randint(1, 25)]

    def mortal(call: Callable[..., object]) -> Callable[..., object]:
        def counted(*given: object, **named: object) -> object:
            left[0] -= 1
            if not left[0]:
                raise Crash
            return call(*given, **named)

        return counted

    for owner, name in MORTAL:
        patch.setattr(owner, name, mortal(getattr(owner, name)))


MORTAL = (
    (staged.os, "write"),
    (staged.os, "fdatasync"),
    (staged.os, "ftruncate"),
    (staged, "name_synced"),
    (Path, "unlink"),
    (Server, "publish"),
)
"""What a process dies in."""
