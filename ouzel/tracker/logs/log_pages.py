"""Pages of logs: the list of a topology's, one of them by parts, what is searched for in it, and what comes to it."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Annotated, BinaryIO

from fastapi import APIRouter, Header, Query, Request
from fastapi.responses import HTMLResponse, StreamingResponse
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from ouzel.errors import OuzelError
from ouzel.tracker import words
from ouzel.tracker.api.routes import AppWatcher
from ouzel.tracker.logs import parts as logs
from ouzel.tracker.logs.files import FileRefused
from ouzel.tracker.pages.topology_pages import render
from ouzel.tracker.topologies.snapshot import TopologySnapshot

LOOK_S = 0.5
"""How often a followed log is looked at."""

QUIET_LOOKS = 30
"""After so many looks without news a comment is sent, so that a connection that is gone is noticed."""

STREAM_S = 600.0
"""A stream ends after that; the browser asks again, from where it was."""

WORDS_MAX = 200

log_router = APIRouter(include_in_schema=False)


@log_router.get("/topology/{name}/logs", response_class=HTMLResponse)
def logs_page(watcher: AppWatcher, name: str) -> Response:
    """The list of a topology's logs."""
    try:
        snapshot = watcher.snapshot(name)
    except OuzelError as error:
        return _not_found(error)
    entries = [(entry, words.count_text(entry.size)) for entry in logs.list_logs(snapshot)]
    return render("logs.html", name=name, entries=entries)


@log_router.get("/topology/{name}/logs/{place}/{file}", response_class=HTMLResponse)
def log_page(
    watcher: AppWatcher,
    name: str,
    place: str,
    file: str,
    offset: int | None = None,
    before: int | None = None,
    search: Annotated[str, Query(max_length=WORDS_MAX)] = "",
    end: int | None = None,
) -> Response:
    """A part of a log, or the lines in it that have these words."""
    try:
        snapshot = watcher.snapshot(name)
        with logs.open_log_file(snapshot, place, file) as opened:
            found = logs.search_log(opened, search, end) if search else None
            part = None if found else _read_part(opened, offset, before)
    except OuzelError as error:
        return _not_found(error)
    title = _title(snapshot, place, file)
    return render("log.html", name=name, place=place, file=file, title=title, search=search, found=found, part=part)


def _read_part(file: BinaryIO, offset: int | None, before: int | None) -> logs.LogPart:
    return logs.read_log_before(file, before) if offset is None else logs.read_log(file, offset)


@log_router.get("/topology/{name}/logs/{place}/{file}/follow")
def follow_log(
    request: Request,
    watcher: AppWatcher,
    name: str,
    place: str,
    file: str,
    offset: int,
    last_event_id: Annotated[int | None, Header()] = None,
) -> Response:
    """What comes to a log from an offset on, as server-sent events. A browser that asks again says what it had last."""
    home = watcher.snapshot(name)
    begin = offset if last_event_id is None else last_event_id
    with logs.open_log_file(home, place, file):  # refused now, not in the stream
        pass
    deadline = time.monotonic() + STREAM_S

    def look(since: int) -> logs.News | None:
        with logs.open_log_file(home, place, file) as opened:
            return logs.read_news(opened, since)

    async def goes_on() -> bool:
        is_over = request.app.state.closing.is_set() or time.monotonic() > deadline
        return not is_over and not await request.is_disconnected()

    return StreamingResponse(
        stream_news(look, begin, goes_on, lambda: asyncio.sleep(LOOK_S)),
        media_type="text/event-stream",
        headers={"Cache-Control": "no-store"},
    )


async def stream_news(
    look: Callable[[int], logs.News | None],
    offset: int,
    goes_on: Callable[[], Awaitable[bool]],
    wait: Callable[[], Awaitable[None]],
) -> AsyncIterator[str]:
    """The events of a followed log.

    Args:
        look: gives what has come since an offset.
        offset: where to begin.
        goes_on: whether anybody still listens.
        wait: comes back when it is time to look again.
    """
    quiet = 0
    while await goes_on():
        try:
            news = await run_in_threadpool(look, offset)
        except FileRefused as error:
            yield f"event: gone\ndata: {json.dumps(str(error))}\n\n"
            return
        if news is None:
            quiet += 1
            if quiet % QUIET_LOOKS == 0:
                yield ": nothing new\n\n"
            await wait()
            continue
        quiet, offset = 0, news.end
        yield f"id: {offset}\ndata: {json.dumps({'text': news.text, 'skipped': news.skipped})}\n\n"


def _title(snapshot: TopologySnapshot, place: str, file: str) -> str:
    known = [entry.title for entry in logs.list_logs(snapshot) if (entry.place, entry.file) == (place, file)]
    return known[0] if known else Path(file).stem


def _not_found(error: Exception) -> Response:
    return render("problem.html", 404, title="Not found", problem=str(error))
