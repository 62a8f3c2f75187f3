"""What a metrics manager says in its log."""

from __future__ import annotations

import grpc
import pytest

from ouzel.runtime.process.metrics_manager import describe_refusal


def test_a_topology_master_that_is_not_there_yet_is_one_line_without_a_stack_trace() -> None:
    with (
        grpc.insecure_channel("unix:/nowhere/master.sock") as channel,
        pytest.raises(grpc.RpcError) as raised,
    ):
        channel.unary_unary("/ouzel/Publish")(b"", timeout=5)
    assert "\n" in str(raised.value)
    assert describe_refusal(raised.value) == (
        "the topology master does not take reports now, and is told later: gRPC says UNAVAILABLE"
    )


def test_one_that_leads_no_more_is_named() -> None:
    assert describe_refusal(Exception("another leads now")).endswith("is told later: another leads now")
