"""Types of the generated gRPC code, which has none; written by hand, since protoc writes only those of the messages."""

from collections.abc import Iterator
from typing import Any, Protocol

from ouzel.runtime.wire import wire_pb2

_Metadata = tuple[tuple[str, str], ...]

class _Call(Protocol):
    def __call__(self, request: Any, timeout: float | None = None, metadata: _Metadata = ()) -> Any: ...
    def future(self, request: Any, timeout: float | None = None, metadata: _Metadata = ()) -> Any: ...

class _Plans(Protocol):
    def __call__(
        self, request: wire_pb2.StreamManager, metadata: _Metadata = ()
    ) -> Iterator[wire_pb2.PhysicalPlan]: ...

class _Statuses(Protocol):
    def __call__(
        self, request: wire_pb2.WatchRequest, metadata: _Metadata = ()
    ) -> Iterator[wire_pb2.TopologyStatus]: ...

class TopologyMasterStub:
    Join: _Plans
    Publish: _Call
    Watch: _Statuses
    Stop: _Call
    def __init__(self, channel: Any) -> None: ...

class TopologyMasterServicer: ...

def add_TopologyMasterServicer_to_server(servicer: TopologyMasterServicer, server: Any) -> None: ...
