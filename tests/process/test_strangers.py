"""Whoever does not know the job's key gets nothing: rubbish ends its own connection, and no process with it."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import grpc
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ouzel.runtime.cluster.client import HeronHandle
from ouzel.runtime.cluster.local import start_heron
from ouzel.runtime.cluster.state import open_state
from ouzel.runtime.process.job import RunDescription
from ouzel.runtime.process.master_client import find_master
from ouzel.runtime.protocol.cluster.links import STRANGERS_MAX
from ouzel.runtime.wire import wire_pb2
from ouzel.runtime.wire.stream import PREFIX, pack_header
from ouzel.runtime.wire.wire_pb2_grpc import TopologyMasterStub
from tests.process.topologies import count_kept, numbers, packed
from tests.servers.waiting import wait_until

pytestmark = pytest.mark.server


@pytest.fixture(scope="module")
def handle(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HeronHandle]:
    directory = tmp_path_factory.mktemp("strangers")
    topology = numbers(directory, 10**6)
    handle = start_heron(topology, packed(topology, 2), directory, tcp=True)
    wait_until(lambda: handle.status().rows_acked > 0)
    yield handle
    assert handle.status().restarts == 0, handle.status().events
    handle.stop()


def send(job: RunDescription, text: bytes) -> bytes:
    """What the stream manager says to that before it hangs up."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(60)
        connection.connect(str(job.container(1) / "stream-manager.sock"))
        said = b""
        try:
            connection.sendall(text)
            connection.shutdown(socket.SHUT_WR)
            while more := connection.recv(4096):
                said += more
        except OSError:
            pass
        return said


HELLO = pack_header(wire_pb2.HELLO, 0, wire_pb2.Header(hello=wire_pb2.Hello(task=1, token=b"x" * 32)))
FORGED = {
    "a malformed hello": PREFIX.pack(8, 0, 0, wire_pb2.HELLO) + b"\xff" * 8,
    "a wrong token": HELLO,
    "a half frame that claims 250 MB": PREFIX.pack(16, 250 << 20, 0, wire_pb2.DATA) + b"x" * 16,
    "rows before a hello": pack_header(wire_pb2.DATA, 3, wire_pb2.Header(rows=1)),
    "a proof that nobody asked for": pack_header(
        wire_pb2.PROOF, 0, wire_pb2.Header(hello=wire_pb2.Hello(proof=b"x" * 32))
    ),
    "a hello without a number": pack_header(wire_pb2.HELLO, 0, wire_pb2.Header(hello=wire_pb2.Hello(container=2))),
}


@pytest.mark.parametrize("what", FORGED)
def test_a_stranger_is_hung_up_on(handle: HeronHandle, what: str) -> None:
    assert send(handle.job, FORGED[what]) == b""


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.one_of(st.binary(max_size=300), st.tuples(st.sampled_from(sorted(FORGED)), st.binary(max_size=64))))
def test_any_bytes_do_no_harm(handle: HeronHandle, text: bytes | tuple[str, bytes]) -> None:
    send(handle.job, text if isinstance(text, bytes) else FORGED[text[0]] + text[1])


def test_many_who_say_nothing_keep_nobody_out(handle: HeronHandle) -> None:
    silent = [socket.socket(socket.AF_UNIX) for _ in range(3 * STRANGERS_MAX)]
    for one in silent:
        one.connect(str(handle.job.container(1) / "stream-manager.sock"))
    before = count_kept(handle.job.directory)
    wait_until(lambda: count_kept(handle.job.directory) > before)
    for one in silent:
        one.close()


@pytest.mark.parametrize("metadata", [(), (("ouzel-token", "0" * 64),)])
def test_a_call_without_the_token_is_refused(handle: HeronHandle, metadata: tuple[tuple[str, str], ...]) -> None:
    state = open_state("local", handle.job.home)
    master = find_master(state, handle.job.id)
    assert master is not None
    with grpc.insecure_channel(master.address) as channel:
        stub = TopologyMasterStub(channel)
        with pytest.raises(grpc.RpcError) as stop:
            stub.Stop(wire_pb2.PlanRequest(), metadata=metadata)
        with pytest.raises(grpc.RpcError) as watch:
            next(stub.Watch(wire_pb2.WatchRequest(), metadata=metadata))
    assert stop.value.code() is watch.value.code() is grpc.StatusCode.UNAUTHENTICATED
    state.close()
