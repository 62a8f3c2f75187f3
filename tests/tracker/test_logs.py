"""Logs by parts, by words, and as they come: exactly, however long lines are, and with nothing that could inject."""

from __future__ import annotations

import asyncio
import json
import random
import tracemalloc
from collections.abc import AsyncIterator, Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from ouzel.tracker.logs import parts as logs
from ouzel.tracker.logs.files import FileRefused
from ouzel.tracker.logs.log_pages import QUIET_LOOKS, stream_news
from ouzel.tracker.logs.parts import News
from ouzel.tracker.logs.plain_text import printable_text
from tests.effort import seeds
from tests.tracker.snapshots import make_snapshot


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts and chunks of some bytes."""
    monkeypatch.setattr(logs, "PART_BYTES", 16)
    monkeypatch.setattr(logs, "CHUNK_BYTES", 8)
    monkeypatch.setattr(logs, "SKIPPED_BYTES", 40)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize(
    "text", ["", "one\n", "one\ntwo\nthree\nfour\nfive\nsix", "x" * 50, "a\n" + "y" * 40 + "\nb\n"]
)
def test_parts_one_after_the_other_are_the_whole_log(tmp_path: Path, text: str) -> None:
    path = tmp_path / "one.log"
    path.write_text(text)
    with path.open("rb") as file:
        part = logs.read_log(file, 0)
        forth = part.text
        while part.has_after:
            part = logs.read_log(file, part.end)
            forth += part.text
        part = logs.read_log_before(file)
        back = part.text
        while part.has_before:
            part = logs.read_log_before(file, part.begin)
            back = part.text + back
    assert (forth, back) == (text, text)


@pytest.mark.usefixtures("small")
def test_a_part_begins_and_ends_where_lines_do(tmp_path: Path) -> None:
    path = tmp_path / "one.log"
    path.write_text("one\ntwo\nthree\nfour\nfive\nsix\n")
    with path.open("rb") as file:
        last, first = logs.read_log_before(file), logs.read_log(file, 0)
    assert (last.text, last.begin, last.has_after) == ("four\nfive\nsix\n", 14, False)
    assert (first.text, first.end, first.has_before) == ("one\ntwo\nthree\n", 14, False)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("seed", seeds())
def test_a_search_finds_each_line_with_the_words_once(tmp_path: Path, seed: int) -> None:
    dice = random.Random(seed)
    pieces = ["Need", "need", "ne", "ed", "\n", "x", "\nneed\n", "nneeeedd"]
    text = "".join(dice.choice(pieces) for _ in range(dice.randrange(120)))
    path = tmp_path / "one.log"
    path.write_text(text)
    expected, offset = [], 0
    for line in text.split("\n"):
        if "need" in line.lower():
            expected.append((offset, line))
        offset += len(line) + 1
    with path.open("rb") as file:
        found = logs.search_log(file, "nEEd")
    assert [(line.offset, line.text) for line in found.lines] == expected


def test_a_search_gives_the_last_lines_and_goes_on_before_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logs, "FOUND_MAX", 3)
    path = tmp_path / "one.log"
    path.write_text("".join(f"need {number}\n" for number in range(8)))
    found, end = [], None
    with path.open("rb") as file:
        while True:
            part = logs.search_log(file, "need", end)
            found = [line.text for line in part.lines] + found
            if not part.begin:
                break
            end = part.begin
    assert found == [f"need {number}" for number in range(8)]


def test_a_line_of_100_mb_takes_no_room(tmp_path: Path) -> None:
    path = tmp_path / "one.log"
    with path.open("wb") as file:
        file.truncate(100 << 20)  # all of it one line, without room on disk
        file.seek((100 << 20) - 5)
        file.write(b"need\n")
    tracemalloc.start()
    try:
        with path.open("rb") as file:
            assert logs.read_log_before(file).text.endswith("need\n")
            assert logs.read_log(file, 0).end == logs.PART_BYTES
            (line,) = logs.search_log(file, "need").lines
            assert line.text.endswith("need")
            news = logs.read_news(file, 0)
        assert news is not None
        assert news.end == 100 << 20
        assert tracemalloc.get_traced_memory()[1] < 16 << 20
    finally:
        tracemalloc.stop()


@pytest.mark.usefixtures("small")
def test_news_are_whole_lines_and_a_log_that_begins_anew_is_read_from_its_beginning(tmp_path: Path) -> None:
    path = tmp_path / "one.log"
    path.write_text("one\ntw")
    with path.open("rb") as file:
        assert logs.read_news(file, 0) == News("one\n", 4)
        assert logs.read_news(file, 4) is None
        path.write_text("one\ntwo\n")
        assert logs.read_news(file, 4) == News("two\n", 8)
        path.write_text("new\n")
        assert logs.read_news(file, 8) == News("new\n", 4)
        path.write_text("".join(f"line {number}\n" for number in range(9)))
        assert logs.read_news(file, 0) == News("line 7\nline 8\n", 63, 49)


def test_text_commands_no_terminal_and_is_not_turned_around() -> None:
    written = "\x1b[31mred\x1b[0m \x1b]8;;http://evil\x1b\\link\x1b]8;;\x1b\\ \u202egnp.exe\x00 <b>\r\nnext\tone"
    shown = printable_text(written)
    assert all(char.isprintable() or char in "\n\t" for char in shown)
    assert "red link" in shown
    assert "\\u202egnp.exe" in shown
    assert shown.endswith("<b>\nnext\tone")


@pytest.mark.parametrize(
    ("place", "name"),
    [
        ("1", "../server.log"),
        ("1", "processes.json"),
        ("1", "secret.log"),
        ("9", "instance-1.log"),
        ("server", "other.log"),
        ("server", "container-1/instance-1.log"),
        ("..", "stranger.log"),
        ("", "instance-1.log"),
    ],
)
def test_nothing_but_logs_of_the_topology_is_opened(tmp_path: Path, place: str, name: str) -> None:
    snapshot = replace(make_snapshot(), home=tmp_path / "home")
    folder = tmp_path / "home" / "container-1"
    folder.mkdir(parents=True)
    for path in (
        folder / "instance-1.log",
        folder / "processes.json",
        tmp_path / "stranger.log",
        folder.parent / "other.log",
    ):
        path.write_text("text\n")
    (folder.parent / "server.log").write_text("of the server\n")
    (folder / "secret.log").symlink_to(tmp_path / "stranger.log")
    with pytest.raises(FileRefused):
        logs.open_log_file(snapshot, place, name)
    with logs.open_log_file(snapshot, "1", "instance-1.log") as file:
        assert file.read() == b"text\n"
    with logs.open_log_file(snapshot, "server", "server.log") as file:
        assert file.read() == b"of the server\n"
    listed = [(entry.place, entry.file, entry.title) for entry in logs.list_logs(snapshot)]
    assert listed == [("server", "server.log", "server"), ("1", "instance-1.log", "left[0]")]


def events(looks: Iterable[News | Exception | None]) -> list[str]:
    """The events of a stream that finds this, look by look."""
    coming = list(looks)

    def look(_offset: int) -> News | None:
        found = coming.pop(0)
        if isinstance(found, Exception):
            raise found
        return found

    async def goes_on() -> bool:
        return bool(coming)

    async def wait() -> None:
        """Look again at once."""

    async def collect(stream: AsyncIterator[str]) -> list[str]:
        return [event async for event in stream]

    return asyncio.run(collect(stream_news(look, 0, goes_on, wait)))


def test_a_stream_tells_what_came_and_where_a_browser_that_asks_again_goes_on() -> None:
    told = events([None, News("a\nb", 4), None, News("<c>", 9, 2)])
    assert told == [
        'id: 4\ndata: {"text": "a\\nb", "skipped": 0}\n\n',
        'id: 9\ndata: {"text": "<c>", "skipped": 2}\n\n',
    ]


def test_a_stream_without_news_is_noticed_when_it_breaks_and_one_without_a_file_ends() -> None:
    assert events([None] * QUIET_LOOKS) == [": nothing new\n\n"]
    (gone,) = events([FileRefused("it is gone"), News("never", 5)])
    assert gone == f"event: gone\ndata: {json.dumps('it is gone')}\n\n"
