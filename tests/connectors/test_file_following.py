"""Which file is this? Files are rotated, replaced, linked, deleted and cut at random, on a file system in memory, against a plain model:
every line once, or an error that names the file; never a loss or a double in silence."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random

import pytest

from ouzel.connectors.file import followed
from ouzel.connectors.file.following import Following, locate
from ouzel.connectors.file.identity import HEAD_BYTES, FileId, FileKey, Print, Register, Seen, head_of, parse_id
from ouzel.errors import ConnectorError
from tests.connectors.fake_disk import FakeDisk, Inode
from tests.effort import seeds

HEADER = b"id\n"


class Shipper:
    """What a source task does with followed files: it looks, reads on, and may die; what it has handed out is kept elsewhere."""

    def __init__(self, disk: FakeDisk, notes: Path, pattern: str) -> None:
        self.disk, self.notes, self.pattern = disk, notes, pattern
        self.got: dict[str, bytes] = {}
        self.over: set[str] = set()
        self.noted: set[str] = set()
        self._start()

    def _start(self) -> None:
        self.following = Following(self.pattern, Path("/"), self.notes, self.disk)
        self.following.recall({name: len(data) for name, data in self.got.items() if data})
        self.contents: dict[str, followed.Followed] = {}

    def look(self) -> None:
        for part in self.following.partitions():
            if part.id not in self.contents and part.id not in self.over:
                content = self.contents[part.id] = self.following.content(part.id)
                known = self.got.setdefault(part.id, b"")
                again = content.read(0, len(known)) if known else b""
                assert again == known, "what is read again is the same"

    def read(self, random: Random) -> None:
        for name in random.sample(sorted(self.contents), len(self.contents)):
            content = self.contents[name]
            self.got[name] += content.read(len(self.got[name]), random.choice((3, 7, 1_000)))
            if content.is_over:
                self.over.add(name)
                del self.contents[name]

    def commit(self) -> None:
        self.following.note()
        self.over.clear()
        self.noted = set(self.contents)

    def die(self) -> None:
        self.following.close()
        self._start()

    def lines(self) -> Counter[bytes]:
        return Counter(line for data in self.got.values() for line in data.splitlines(keepends=True) if line != HEADER)

    def has_read(self, file: Inode) -> bool:
        return any(content.key.ino == file.ino and content.read_so_far.at for content in self.contents.values())


class World:
    """Writers who rotate in every way that there is, and the model of what they have written."""

    def __init__(self, seed: int, notes: Path, harmless: bool) -> None:
        self.random, self.harmless = Random(seed), harmless
        self.disk = FakeDisk(tells_birth=self.random.random() < 0.5)
        self.written: Counter[bytes] = Counter()
        self.halves: dict[int, bytes] = {}
        self.count, self.harmed = 0, False
        pattern = self.random.choice(("/logs/*", "/logs/a", "/logs/[ab]*"))
        self.shipper = Shipper(self.disk, notes, pattern)
        self.headed = self.random.random() < 0.5
        self.files = ["/logs/a"] if pattern == "/logs/a" else ["/logs/a", "/logs/b"]

    def settle(self) -> None:
        """What is there is read, as it is between two things that befall a file."""
        self.shipper.look()
        for _ in range(3):
            self.shipper.read(self.random)

    def _new(self, path: str) -> None:
        file = self.disk.create(path)
        if self.headed:
            self.disk.write(file, HEADER)

    def append(self, path: str) -> None:
        if path not in self.disk.names:
            self._new(path)
        self._grow(self.disk.names[path])

    def _grow(self, file: Inode) -> None:
        for _ in range(self.random.randint(1, 4)):
            line = b"%d\n" % self.count
            self.count += 1
            self.written[line] += 1
            self.disk.write(file, file.data + line[:2])  # a look may come between the halves of a line
            if self.random.random() < 0.1:
                self.shipper.read(self.random)
            self.disk.write(file, file.data + line[2:])

    def rotate(self, path: str) -> None:
        """By renaming; the writer may go on in the old file for a while."""
        if path in self.disk.names:
            self.shipper.look()  # each file is looked at once at least under its name
            old, moved = self.disk.names[path], f"{path}.{self.random.randint(1, 3)}"
            if moved in self.disk.names:
                self.settle()
            self.disk.rename(path, moved)
            if self.random.random() < 0.5:
                self._grow(old)
            if self.random.random() < 0.7:
                self._new(path)

    def replace(self, path: str) -> None:
        """A new file is made elsewhere, and takes the name."""
        if path in self.disk.names:
            self.settle()
        self._new("/elsewhere/new")
        self._grow(self.disk.names["/elsewhere/new"])
        self.disk.rename("/elsewhere/new", path)

    def delete(self, path: str) -> None:
        if path in self.disk.names:
            self.settle()
            self._grow(self.disk.names[path])  # what is written last is read from the file that has no name
            self.disk.unlink(path)

    def link(self, path: str) -> None:
        if path in self.disk.names:
            self.disk.link(path, f"{path}.{self.random.choice('xyz')}") if f"{path}.x" not in self.disk.names else None

    def touch(self, path: str) -> None:
        if path in self.disk.names:
            self.disk.write(self.disk.names[path], self.disk.names[path].data)

    def kill(self, path: str) -> None:
        """The task dies and starts again; files are rotated meanwhile, and not deleted: what has no name then is lost, which is said."""
        self.settle()
        if self.shipper.over or any(file.links == 0 for file in self.disk.open_files.values()):
            return
        if self.random.random() < 0.5 or self.shipper.contents.keys() - self.shipper.noted:
            self.shipper.commit()
        moved = f"{path}.{self.random.randint(4, 99)}"
        if path in self.disk.names and moved not in self.disk.names:
            self.disk.rename(path, moved)
            self._grow(self.disk.names[moved])
        self.shipper.die()

    def cut(self, path: str) -> None:
        """Copied elsewhere and cut; it may have grown again before anybody looks."""
        if path in self.disk.names:
            file = self.disk.names[path]
            self.settle()
            if self.shipper.has_read(file) and len(self._read_of(file)) > len(HEADER):
                self.harmed = True
                self._grow(file)  # nobody has read that
                keep = self.random.choice((b"", HEADER if self.headed else b""))
                self.disk.write(file, keep)
                while self.random.random() < 0.8:
                    self._grow(file)

    def _read_of(self, file: Inode) -> bytes:
        return next(self.shipper.got[name] for name, one in self.shipper.contents.items() if one.key.ino == file.ino)

    def rot(self, path: str) -> None:
        """Deleted and made anew, with the same inode, while the task is down."""
        if path in self.disk.names and self.disk.names[path].links == 1:
            self.settle()
            if not self.shipper.has_read(self.disk.names[path]):
                return
            self.shipper.commit()
            self.shipper.following.close()
            self.shipper.contents.clear()
            self.harmed = True
            self.disk.unlink(path)
            self.disk.time += 1
            self._new(path)
            self._grow(self.disk.names[path])
            self.shipper.die()
            self.shipper.look()

    def step(self) -> None:
        path = self.random.choice(self.files)
        kinds = [self.append] * 6 + [self.rotate] * 2 + [self.replace, self.delete, self.link, self.touch, self.kill]
        kinds += [] if self.harmless else [self.cut, self.rot]
        self.random.choice(kinds)(path)
        self.disk.time += self.random.choice((0.0, 0.0, 0.5, 4.0))
        if self.random.random() < 0.6:
            self.shipper.look()
        if self.random.random() < 0.6:
            self.shipper.read(self.random)
        if self.random.random() < 0.3:
            self.shipper.commit()

    def run(self) -> None:
        """Steps, then silence until all that is deleted is over."""
        for _ in range(40):
            if self.harmed:
                break
            self.step()
        for _ in range(8):
            self.disk.time += 4
            self.shipper.look()
            for _ in range(60):
                self.shipper.read(self.random)
            self.shipper.commit()


@pytest.mark.parametrize("seed", seeds())
def test_every_line_comes_once_wherever_files_go(seed: int, tmp_path: Path) -> None:
    for number in range(10):
        world = World(seed * 1_000 + number, tmp_path / str(number), harmless=True)
        world.run()
        assert world.shipper.lines() == world.written, number
        assert not any(file.links == 0 for file in world.disk.open_files.values()), "no room is kept on the disk"


def ending_of(world: World) -> str:
    """What the run of a world is ended by; empty if nothing does."""
    try:
        world.run()
    except ConnectorError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("seed", seeds())
def test_what_is_cut_or_made_anew_is_an_error_and_never_silent(seed: int, tmp_path: Path) -> None:
    harmed = 0
    for number in range(15):
        world = World(seed * 1_000 + number, tmp_path / str(number), harmless=False)
        said = ending_of(world)
        if said:
            assert world.harmed, (number, said)
            assert "/logs/" in said
            harmed += 1
        else:
            assert world.shipper.lines() == world.written, number
    assert harmed


@pytest.mark.parametrize("seed", seeds())
def test_files_that_are_closed_for_want_of_room_are_found_again(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(followed, "open_limit", lambda: 1)
    for number in range(5):
        world = World(seed * 1_000 + number, tmp_path / str(number), harmless=True)
        world.delete = world.replace = world.append  # type: ignore[method-assign]
        world.rotate = lambda path: None  # type: ignore[assignment,method-assign]
        world.run()
        assert world.shipper.lines() == world.written, number


def test_the_limit_of_open_files_holds_and_a_closed_file_that_is_written_over_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(followed, "open_limit", lambda: 2)
    monkeypatch.setattr(followed, "_open", set())
    disk = FakeDisk()
    shipper = Shipper(disk, tmp_path / "notes", "/logs/*")
    for number in range(9):
        disk.write(disk.create(f"/logs/{number}"), b"%d\n" % number)
    for _ in range(3):
        disk.time += 1
        shipper.look()
        shipper.read(Random(0))
    assert len(disk.open_files) == 2
    disk.rename("/logs/1", "/logs/x")
    disk.write(disk.names["/logs/x"], b"1\n10\n")
    shipper.look()
    shipper.read(Random(0))
    assert shipper.lines()[b"10\n"] == 1
    closed = next(
        name for name, one in shipper.contents.items() if one.read_so_far.at and not disk.handles_of(one.key.ino)
    )
    path = closed.partition("#")[0]
    disk.unlink(path)
    disk.write(disk.create(path), b"other\n")
    shipper.look()
    with pytest.raises(ConnectorError, match=f"{path} was written over"):
        shipper.read(Random(0))


def test_ids_are_read_back_and_tell_files_apart() -> None:
    plain = FileId("/logs/a#1.csv", 7, 0, "", 1)
    for file in (plain, FileId("/a\nb", 255, 12, head_of(b"id\n"), 1), FileId("/a", 1, 2, head_of(b"x\n"), 3)):
        assert parse_id(str(file)) == file
    for name in ("/logs/a.csv", "/a.parquet#0-1000", "/a#1-2"):
        assert parse_id(name) is None
    assert head_of(b"id") == head_of(b"") == ""
    assert head_of(b"id\n1\n") == head_of(b"id\n") != head_of(b"ie\n")
    assert head_of(b"x" * HEAD_BYTES) == head_of(b"x" * (HEAD_BYTES + 1) + b"\n") != ""
    seen = Seen("/b", FileKey(9, 7), 5, head_of(b"x\n"))
    assert plain.fits(seen)
    assert not plain._replace(born=4).fits(seen)
    assert not plain._replace(head=head_of(b"y\n")).fits(seen)


def test_an_inode_that_has_gone_to_another_file_is_told_from_one_that_was_renamed() -> None:
    register, head = Register(), head_of(b"x\n")
    register.recall([FileId("/a", 7, 0, head)])
    with pytest.raises(ConnectorError, match=r"/b is not the file that was followed as /a: .* \(inode 7|\(7\)"):
        register.take(Seen("/b", FileKey(1, 7), 0, head_of(b"y\n")))
    register = Register()
    register.recall([FileId("/a", 7, 0, head)])
    assert register.take(Seen("/b", FileKey(1, 7), 0, head)).path == "/a"
    register.end(FileKey(1, 7))
    assert register.take(Seen("/a", FileKey(1, 7), 0, head)).life == 2


def test_what_was_read_is_known_by_both_its_ends() -> None:
    known = Print()
    for piece in (b"a" * 300, b"b" * 300, b"c" * 1_000):
        known = known.then(piece)
    assert known == Print(1_600, b"a" * 300 + b"b" * 212, b"c" * 512)


def test_a_batch_finds_a_rotated_file_and_says_when_it_is_gone() -> None:
    disk = FakeDisk()
    disk.write(disk.create("/logs/a"), b"x\n")
    (part,) = Following("/logs/a", Path("/"), disk=disk).partitions()
    assert locate(part.id, disk) == "/logs/a"
    assert locate("/logs/plain", disk) == "/logs/plain"
    disk.rename("/logs/a", "/logs/a.1")
    disk.time += 1
    disk.write(disk.create("/logs/a"), b"x\n")
    assert locate(part.id, disk) == "/logs/a.1"
    disk.unlink("/logs/a.1")
    disk.write(disk.create("/logs/b"), b"x\n")  # with its inode, and its first line
    with pytest.raises(
        ConnectorError, match=r"followed as /logs/a \(inode 1\) is found nowhere in /logs now: .* a batch cannot"
    ):
        locate(part.id, disk)


def test_files_that_went_while_they_were_closed_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(followed, "open_limit", lambda: 2)
    monkeypatch.setattr(followed, "_open", set())
    disk = FakeDisk()
    shipper = Shipper(disk, tmp_path / "notes", "/logs/*")
    for number in range(9):
        disk.write(disk.create(f"/logs/{number}"), b"%d\n" % number)

    def look() -> str:
        disk.time += followed.GONE_S
        shipper.look()
        shipper.read(Random(0))
        return shipper.following.note()

    assert [look() for _ in range(3)] == ["", "", ""]
    is_open = {one.file.path: one.is_open for one in shipper.contents.values()}
    closed, opened = (sorted(path for path in is_open if is_open[path] is sought) for sought in (False, True))
    for path in (closed[0], closed[1], opened[0]):
        disk.unlink(path)
    told = [look() for _ in range(4)]
    assert [text for text in told if text] == [
        f"{closed[0]} and 1 others went while closed, as more files are followed than half of what a process may open (2): "
        "what was written to it just before is lost, if anything was; follow fewer files, or raise ulimit -n"
    ]


def test_a_process_opens_as_many_files_as_it_may_let_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    limits = [16, 1_000]

    def widen(kind: int, wanted: tuple[int, int]) -> None:
        limits[0] = wanted[0]

    monkeypatch.setattr(followed.resource, "getrlimit", lambda kind: tuple(limits))
    monkeypatch.setattr(followed.resource, "setrlimit", widen)
    followed.widen_limit.cache_clear()
    assert [followed.are_too_many(count) for count in (8, 9, 501)] == [False, False, True]
    assert limits == [1_000, 1_000]
