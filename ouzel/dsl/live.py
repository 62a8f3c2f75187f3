"""What a running program answers, while it runs: its changes, or the table that they add up to, as frames of the reader's choice."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Generator, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ouzel import session
from ouzel.callers import is_looped_over, unpacked_names
from ouzel.errors import QueryError, TopologyError
from ouzel.job import Job
from ouzel.runtime.run import Handle, RunState, describe_lost_state

if TYPE_CHECKING:
    import polars as pl

WAIT_SECONDS = 0.5

FORMS: Mapping[str, Callable[[pl.DataFrame], Any]] = {
    "polars": lambda frame: frame,
    "pandas": lambda frame: frame.to_pandas(),
    "arrow": lambda frame: frame.to_arrow(),
}
"""What a reader may ask for."""


class LiveFrames:
    """Frames of one run, which begins with the first and is over when the last has been read, or when whoever reads them stops or fails.

    `for` and `async for` give each; `await` runs it to its end and gives the last table.
    """

    def __init__(self, job: Job, engine: str, form: str, whole: bool) -> None:
        if form not in FORMS:
            raise QueryError(f"there are no frames of '{form}'", instead=f"write one of {', '.join(FORMS)}")
        self._job, self._engine, self._give, self._whole = job, engine, FORMS[form], whole

    def __repr__(self) -> str:
        return "<frames of a stream: loop over them, or `await` them in an `async def`>"

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> object:
            raise AttributeError(
                f"frames of a stream have no {name}; loop over them, for frame in stream.changes(), or call stream.table() for one"
            )

    def __iter__(self) -> Iterator[Any]:
        return self._frames(is_looped_over())

    def __aiter__(self) -> AsyncIterator[Any]:
        return self._frames_awaited(is_looped_over())

    def _frames(self, looped: bool) -> Iterator[Any]:
        _check_not_unpacked(unpacked_names() if looped else ())
        news = self._news()
        with session.start(self._job, self._engine) as run:
            ended = False
            while not ended:
                ended = run.wait_for_results(WAIT_SECONDS)
                yield from news(run)
            self._check_ended(run)

    async def _frames_awaited(self, looped: bool) -> AsyncIterator[Any]:
        _check_not_unpacked(unpacked_names() if looped else ())
        news = self._news()
        with await self._start() as run:
            ended = False
            while not ended:
                ended = await asyncio.to_thread(run.wait_for_results, WAIT_SECONDS)
                for frame in news(run):
                    yield frame
            self._check_ended(run)

    async def _start(self) -> Handle:
        """The run; what its thread starts after whoever awaits this was cancelled, as by a time limit, is ended."""
        started, cancelled = list[Handle](), threading.Event()

        def begin() -> Handle:
            started.append(run := session.start(self._job, self._engine))
            if cancelled.is_set():
                run.end()
            return run

        try:
            return await asyncio.to_thread(begin)
        except asyncio.CancelledError:
            cancelled.set()
            for run in started:
                run.end()
            raise

    def __await__(self) -> Generator[Any, None, Any]:
        return self._last().__await__()

    async def _last(self) -> Any:
        last = self._give(self._table().frame())
        async for frame in LiveFrames(self._job, self._engine, "polars", True):
            last = self._give(frame)
        return last

    def _table(self) -> Any:
        from ouzel.runtime.operators.result_table import ResultTable

        sink = self._job.program.result
        assert sink is not None, "the job hands its records to whoever starts it"
        return ResultTable(sink.columns or sink.input.schema, sink.sorted_by)

    def _news(self) -> Callable[[Handle], Iterable[Any]]:
        """What there is to give since it was last called."""
        table = self._table()

        def news(run: Handle) -> Iterable[Any]:
            frames = [frame for frame in run.results() if frame.height]
            if not self._whole:
                return map(self._give, frames)
            for frame in frames:
                table.apply(frame)
            return [self._give(table.frame())] if frames else []

        return news

    def _check_ended(self, run: Handle) -> None:
        status = run.status()
        if status.state is RunState.FAILED:
            raise TopologyError(status.reason)
        lost = describe_lost_state(status, self._job.settings)
        if lost:
            raise TopologyError(f"{lost}, so the answer may lack rows; state_lost='accept' takes it as it is")


def _check_not_unpacked(names: Sequence[str]) -> None:
    """See that a loop does not unpack each frame into names, which would be its columns.

    Raises:
        TypeError: it does.
    """
    if names:
        raise TypeError(
            f"each of these is a frame, and {', '.join(names)} would be its columns; "
            "write for frame in stream.changes(), and for row in frame.iter_rows()"
        )
