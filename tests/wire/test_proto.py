"""The generated protobuf code says what wire.proto says."""

from __future__ import annotations

from pathlib import Path

from google.protobuf.descriptor_pb2 import DescriptorProto, FileDescriptorProto, FileDescriptorSet
from grpc_tools import protoc

from ouzel.runtime.wire import wire_pb2

ROOT = Path(__file__).parents[2]


def forget_json_names(message: DescriptorProto) -> None:
    for field in message.field:
        field.ClearField("json_name")
    for inner in message.nested_type:
        forget_json_names(inner)


def test_wire_pb2_is_up_to_date(tmp_path: Path) -> None:
    out = tmp_path / "set"
    assert protoc.main(["protoc", f"-I{ROOT}", f"--descriptor_set_out={out}", "ouzel/runtime/wire/wire.proto"]) == 0
    (compiled,) = FileDescriptorSet.FromString(out.read_bytes()).file
    committed = FileDescriptorProto.FromString(wire_pb2.DESCRIPTOR.serialized_pb)
    for file in (compiled, committed):
        for message in file.message_type:
            forget_json_names(message)
    assert compiled == committed, "run `make wire`"
