"""Eight and thirty-two bytes at a time inside compiled loops: what Numba has no words for, written for LLVM. Nothing here checks bounds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

WIDTH = 32
"""So many bytes are looked at or copied at once."""

_BYTE, _WORD = ir.IntType(8), ir.IntType(64)
_BYTES = ir.VectorType(_BYTE, WIDTH)
_QUOTE, _BACKSLASH, _SPACE = map(ord, '"\\ ')


def _pointer(kind: Any, context: Any, builder: Any, array: Any, value: Any, at: Any) -> Any:
    data = context.make_array(array)(context, builder, value).data
    return builder.bitcast(builder.gep(builder.bitcast(data, _BYTE.as_pointer()), [at]), kind.as_pointer())


@intrinsic  # type: ignore[untyped-decorator]
def word_at(typing: Any, data: Any, at: Any) -> tuple[Any, Callable[..., Any]]:
    """The eight bytes from here on as a number, the first byte lowest."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.load(_pointer(_WORD, context, builder, signature.args[0], *arguments), align=1)

    return types.uint64(data, types.int64), generate


@intrinsic  # type: ignore[untyped-decorator]
def plain_bytes_at(typing: Any, data: Any, at: Any) -> tuple[Any, Callable[..., Any]]:
    """How many of the next `WIDTH` bytes stand before a quote, a backslash or a control character; all if there is none."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        found = builder.load(_pointer(_BYTES, context, builder, signature.args[0], *arguments), align=1)
        every = [ir.Constant(_BYTES, [byte] * WIDTH) for byte in (_QUOTE, _BACKSLASH, _SPACE)]
        ends = builder.or_(
            builder.or_(builder.icmp_unsigned("==", found, every[0]), builder.icmp_unsigned("==", found, every[1])),
            builder.icmp_unsigned("<", found, every[2]),
        )
        bits = builder.zext(builder.bitcast(ends, ir.IntType(WIDTH)), _WORD)
        return builder.cttz(builder.or_(bits, ir.Constant(_WORD, 1 << WIDTH)), cgutils.false_bit)

    return types.int64(data, types.int64), generate


@intrinsic  # type: ignore[untyped-decorator]
def copy_bytes(typing: Any, data: Any, at: Any, text: Any, to: Any) -> tuple[Any, Callable[..., Any]]:
    """`WIDTH` bytes of `data` into `text`."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        found = builder.load(_pointer(_BYTES, context, builder, signature.args[0], *arguments[:2]), align=1)
        builder.store(found, _pointer(_BYTES, context, builder, signature.args[2], *arguments[2:]), align=1)
        return context.get_dummy_value()

    return types.none(data, types.int64, text, types.int64), generate
