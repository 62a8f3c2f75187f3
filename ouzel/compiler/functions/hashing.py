"""Hashes and encodings of text (its UTF-8) and bytes."""

from __future__ import annotations

import base64
import hashlib
import zlib
from collections.abc import Callable
from typing import TYPE_CHECKING

from ouzel.compiler.functions.lowering import RowFunction, by_row, plain, spark_call
from ouzel.compiler.functions.registry import Function, KernelLowering
from ouzel.compiler.functions.signatures import overloads
from ouzel.compiler.types import BIGINT, BYTES, INT, VARCHAR

if TYPE_CHECKING:
    import polars as pl


def _bytes(value: str | bytes) -> bytes:
    return value.encode() if isinstance(value, str) else value


def _digest(algorithm: Callable[..., object]) -> RowFunction:
    return lambda value: algorithm(_bytes(value)).hexdigest()  # type: ignore[attr-defined]


def _sha2(value: str | bytes, bits: int) -> str | None:
    sizes = {0: hashlib.sha256, 224: hashlib.sha224, 256: hashlib.sha256, 384: hashlib.sha384, 512: hashlib.sha512}
    return sizes[bits](_bytes(value)).hexdigest() if bits in sizes else None


def _hex(value: int | str | bytes) -> str:
    return format(value & (2**64 - 1), "X") if isinstance(value, int) else _bytes(value).hex().upper()


def _unhex(text: str) -> bytes | None:
    try:
        return bytes.fromhex(text if len(text) % 2 == 0 else "0" + text) if text.isalnum() or not text else None
    except ValueError:
        return None


def _rows(function: RowFunction) -> KernelLowering:
    return by_row(function)


_EITHER = overloads(((VARCHAR,), VARCHAR), ((BYTES,), VARCHAR))
FUNCTIONS: tuple[Function, ...] = (
    Function("md5", _EITHER, _rows(_digest(hashlib.md5)), spark_call("md5"), "MD5 in hexadecimal digits.", "MD5(x)"),
    Function(
        "sha1", _EITHER, _rows(_digest(hashlib.sha1)), spark_call("sha1"), "SHA-1 in hexadecimal digits.", "SHA1(x)",
        aliases=("sha",),
    ),
    Function(
        "sha2", overloads(((VARCHAR, INT), VARCHAR), ((BYTES, INT), VARCHAR)), _rows(_sha2),
        lambda a, s: f'F.call_function("sha2", {", ".join(a)})',
        "SHA-2 of 224, 256, 384 or 512 bits in hexadecimal digits; NULL for other sizes.", "SHA2(x, bits)",
    ),
    Function(
        "sha256", _EITHER, _rows(_digest(hashlib.sha256)), lambda a, s: f"F.sha2({a[0]}, 256)", "SHA-2 of 256 bits.", "SHA256(x)",
    ),
    Function(
        "crc32", overloads(((VARCHAR,), BIGINT), ((BYTES,), BIGINT)), _rows(lambda value: zlib.crc32(_bytes(value))),
        spark_call("crc32"), "Cyclic redundancy check.", "CRC32(x)",
    ),
    Function(
        "hex", overloads(((BIGINT,), VARCHAR), ((VARCHAR,), VARCHAR), ((BYTES,), VARCHAR)), _rows(_hex), spark_call("hex"),
        "In hexadecimal digits.", "HEX(x)",
    ),
    Function(
        "unhex", overloads(((VARCHAR,), BYTES)), _rows(_unhex), spark_call("unhex"),
        "Bytes of hexadecimal digits; NULL if they are none.", "UNHEX(text)",
    ),
    Function(
        "to_base64", _EITHER, _rows(lambda value: base64.b64encode(_bytes(value)).decode()), spark_call("base64"), "In base 64.",
        "TO_BASE64(x)", aliases=("base64",),
    ),
    Function(
        "encode", overloads(((VARCHAR,), BYTES)), plain(lambda a: a.cast(_binary())), lambda a, s: f'F.encode({a[0]}, "UTF-8")',
        "Text as bytes in UTF-8.", "ENCODE(text)", aliases=("to_bytes",),
    ),
)  # fmt: skip


def _binary() -> pl.DataType:
    import polars as pl

    return pl.Binary()
