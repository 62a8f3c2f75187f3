"""Calls to the topology master that hold nobody up: gRPC works in a thread of its own, and whoever called looks elsewhere meanwhile.

gRPC needs threads. Where no more can be started it waits for ever, also for a topology master that has ended.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from queue import Empty, SimpleQueue
from threading import Thread
from typing import TypeVar

import grpc

from ouzel.runtime.process.limits import start_thread
from ouzel.runtime.wire import wire_pb2
from ouzel.runtime.wire.wire_pb2_grpc import TopologyMasterStub

T = TypeVar("T")

Credentials = tuple[tuple[str, str], ...]

LOOK_S = 0.2
"""How often whoever waits looks elsewhere."""

ANSWER_S = 2.0
"""How long a first call waits for its answer."""


def watch(address: str, credentials: Credentials, every_s: float = 0.0) -> Iterator[wire_pb2.TopologyStatus | None]:
    """What a topology master says until it ends, and None whenever it has said nothing for LOOK_S.

    It says how the topology stands several times a second, or no more often than `every_s`; a change of the state at once.

    Raises:
        TopologyError: no thread can be started.
    """

    request = wire_pb2.WatchRequest(every_ms=int(1e3 * every_s))

    def listen() -> Iterator[wire_pb2.TopologyStatus]:
        with grpc.insecure_channel(address) as channel, suppress(grpc.RpcError):
            yield from TopologyMasterStub(channel).Watch(request, metadata=credentials)

    return in_background(listen, LOOK_S)


def ask(address: str, credentials: Credentials, call: str, patience_s: float = ANSWER_S) -> int | None:
    """Call a topology master; the version of the plan that says so, None if it does not answer in time.

    Raises:
        TopologyError: no thread can be started.
    """

    def answer() -> Iterator[int]:
        with grpc.insecure_channel(address) as channel, suppress(grpc.RpcError):
            method = getattr(TopologyMasterStub(channel), call)
            yield int(method(wire_pb2.PlanRequest(), timeout=patience_s, metadata=credentials).version)

    return next(in_background(answer, 2 * patience_s), None)


def in_background(work: Callable[[], Iterable[T]], look_s: float) -> Iterator[T | None]:
    """What `work` gives in a thread of its own, and None whenever nothing has come for so long. An error in it is raised here."""
    told: SimpleQueue[tuple[T] | BaseException | None] = SimpleQueue()

    def run() -> None:
        try:
            for one in work():
                told.put((one,))
            told.put(None)
        except BaseException as error:
            told.put(error)

    start_thread(Thread(target=run, name="topology master", daemon=True))
    return _take_all(told, look_s)


def _take_all(told: SimpleQueue[tuple[T] | BaseException | None], look_s: float) -> Iterator[T | None]:
    while True:
        try:
            one = told.get(timeout=look_s)
        except Empty:
            yield None
            continue
        if one is None:
            return
        if isinstance(one, BaseException):
            raise one
        yield one[0]
