"""A metrics manager's calls to one topology master, in one thread: for a call that can be waited for, gRPC starts a thread each time."""

from __future__ import annotations

from queue import Empty, SimpleQueue
from threading import Thread

import grpc

from ouzel.runtime.process.limits import start_thread
from ouzel.runtime.wire import wire_pb2
from ouzel.runtime.wire.wire_pb2_grpc import TopologyMasterStub


class Publisher:
    """Hands reports to the topology master at an address, one after the other.

    Args:
        address: where it is.
        credentials: what each call carries as metadata.
        limit_s: how long it may take for one.
    """

    def __init__(self, address: str, credentials: tuple[tuple[str, str], ...], limit_s: float) -> None:
        self._channel, self._credentials, self._limit_s = grpc.insecure_channel(address), credentials, limit_s
        self._publish = TopologyMasterStub(self._channel).Publish
        self._reports: SimpleQueue[wire_pb2.ContainerReport | None] = SimpleQueue()
        self._answers: SimpleQueue[BaseException | None] = SimpleQueue()
        start_thread(Thread(target=self._run, name="publisher", daemon=True))

    def send(self, report: wire_pb2.ContainerReport) -> None:
        """Begin to hand it on; the one before must have been taken."""
        self._reports.put(report)

    def await_taken(self, wait_s: float) -> bool:
        """Whether the topology master has it, after so long at most.

        Raises:
            grpc.RpcError: it does not take it.
        """
        try:
            error = self._answers.get(timeout=wait_s)
        except Empty:
            return False
        if error is not None:
            raise error
        return True

    def close(self) -> None:
        """Hand on nothing more; a call that is under way ends."""
        self._reports.put(None)
        self._channel.close()

    def _run(self) -> None:
        while (report := self._reports.get()) is not None:
            try:
                self._publish(report, timeout=self._limit_s, metadata=self._credentials)
                self._answers.put(None)
            except BaseException as error:  # it is raised where the answer is waited for
                self._answers.put(error)
