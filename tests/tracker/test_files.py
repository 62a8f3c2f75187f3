"""What may be read of a container's directory: names on the list, plain files, and never by a way that leads out."""

from __future__ import annotations

from pathlib import Path

import pytest

from ouzel.tracker.logs.files import FileRefused, list_files, open_given_file, read_part, stream_file

SECRET = "the key of the topology"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A container's directory in a job directory, with ways that lead out of it."""
    home = tmp_path / "home"
    folder = home / "container-1"
    folder.mkdir(parents=True)
    (home / "key").write_text(SECRET)
    (home / "server.log").write_text(SECRET)
    (tmp_path / "stranger.log").write_text(SECRET)
    (folder / "instance-1.log").write_text("one\ntwo\n")
    (folder / "cuts-1").write_text(SECRET)
    (folder / "out.log").symlink_to(home / "key")
    (folder / "further.log").symlink_to(tmp_path / "stranger.log")
    (folder / "circle.log").symlink_to(folder / "circle.log")
    (folder / "above").symlink_to(home)
    (folder / "folder.log").mkdir()
    return folder


@pytest.mark.parametrize(
    "path",
    [
        "../key",
        "../server.log",
        "../../stranger.log",
        "container-1/../../server.log",
        "above/server.log",
        "out.log",
        "further.log",
        "circle.log",
        "folder.log",
        "cuts-1",
        "key",
        "missing.log",
        "",
        ".",
        "..",
        "instance-1.log\0.log",
        "instance-1.log/../../server.log",
        "x" * 5_000 + ".log",
    ],
)
def test_no_path_leads_out(folder: Path, path: str) -> None:
    with pytest.raises(FileRefused):
        open_given_file(folder, path)


def test_no_absolute_path_is_taken(folder: Path, tmp_path: Path) -> None:
    for path in (folder / "instance-1.log", tmp_path / "stranger.log", Path("/etc/passwd")):
        with pytest.raises(FileRefused):
            open_given_file(folder, str(path))


@pytest.mark.parametrize(
    ("offset", "length", "data", "begins"),
    [
        (0, -1, "one\ntwo\n", 0),
        (4, 3, "two", 4),
        (-1, -1, "", 8),
        (100, 5, "", 8),
        (-7, 3, "one", 0),
        (0, 1 << 80, "one\ntwo\n", 0),
    ],
)
def test_a_part_of_a_log(folder: Path, offset: int, length: int, data: str, begins: int) -> None:
    part = read_part(folder, "instance-1.log", offset, length)
    assert (part.data, part.offset, part.length) == (data, begins, len(data))


def test_a_whole_log_and_the_list(folder: Path) -> None:
    assert b"".join(stream_file(open_given_file(folder, "./instance-1.log"))) == b"one\ntwo\n"
    assert list(list_files(folder)) == ["instance-1.log"]
