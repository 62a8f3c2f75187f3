"""Text: positions and lengths count code points, from 1; 0 means 1 where Spark has it so, negative ones count from the end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ouzel.compiler.functions.lowering import (
    by_row,
    eager,
    failing,
    plain,
    spark_builtin,
    spark_call,
    spark_method,
    with_errors,
)  # fmt: skip
from ouzel.compiler.functions.registry import Function, KernelLowering, Lowered, Signature, SparkLowering
from ouzel.compiler.functions.signatures import alike, overloads
from ouzel.compiler.types import BIGINT, BOOLEAN, BYTES, INT, VARCHAR, DataType

if TYPE_CHECKING:
    import polars as pl

LONGEST = 2**31 - 1
TEXT_MAX = 10_000_000
"""The longest text, in bytes, that REPEAT, SPACE and padding make: beyond it a row fails, where Spark would go on until its memory ends."""
_TOO_LONG = "a text of more than 10,000,000 bytes"

V = VARCHAR


def substring(text: pl.Expr, start: pl.Expr, length: pl.Expr | None = None) -> pl.Expr:
    """Spark's substringSQL: the window [start, start + length) is laid over the text and may stick out at both ends."""
    import polars as pl

    position = start.cast(pl.Int64)
    size = text.str.len_chars().cast(pl.Int64)
    first = pl.when(position > 0).then(position - 1).when(position < 0).then(size + position).otherwise(position)
    left = first.clip(lower_bound=0)
    count = pl.lit(LONGEST, pl.Int64) if length is None else length.cast(pl.Int64)
    end = (first + count).clip(upper_bound=LONGEST)
    return pl.when(end.is_not_null()).then(text.str.slice(left, (end - left).clip(lower_bound=0)))


def characters(number: pl.Expr) -> pl.Expr:
    """A count as Spark's INT."""
    import polars as pl

    return number.cast(pl.Int32)


def find_text(text: pl.Expr, sought: pl.Expr) -> pl.Expr:
    """The position of the first occurrence, counted in code points from 1; 0 if there is none."""
    import polars as pl

    offset = text.str.find(sought, literal=True)
    before = text.cast(pl.Binary).bin.slice(0, offset).cast(pl.String).str.len_chars()
    found = pl.when(offset.is_not_null()).then(before + 1).otherwise(0)
    return characters(pl.when(text.is_not_null() & sought.is_not_null()).then(found))


def _locate_from(sought: pl.Expr, text: pl.Expr, start: pl.Expr) -> pl.Expr:
    import polars as pl

    skipped = start.fill_null(0).cast(pl.Int64) - 1
    rest = find_text(text.str.slice(skipped.clip(lower_bound=0)), sought)
    found = pl.when(sought == "").then(1).when(rest > 0).then(rest + skipped).otherwise(0)
    known = text.is_not_null() & sought.is_not_null()
    # a NULL start gives 0 before anything else is looked at: Spark's StringLocate
    return characters(pl.when(start.is_null()).then(0).when(known).then(pl.when(skipped < 0).then(0).otherwise(found)))


def _take_left(text: pl.Expr, count: pl.Expr) -> pl.Expr:
    import polars as pl

    return pl.when(count.is_not_null()).then(text.str.slice(0, count.clip(lower_bound=0)))


def _right(text: pl.Expr, count: pl.Expr) -> pl.Expr:
    import polars as pl

    size = text.str.len_chars().cast(pl.Int64)
    kept = count.cast(pl.Int64).clip(lower_bound=0)
    return text.str.slice((size - kept).clip(lower_bound=0))


def too_long(text: pl.Expr, count: pl.Expr) -> pl.Expr:
    """Whether `text` `count` times over is longer than a row may make it."""
    import polars as pl

    return text.str.len_bytes().cast(pl.Int64) * count.cast(pl.Int64) > TEXT_MAX


def repeat_text(text: pl.Expr, count: pl.Expr) -> pl.Expr:
    """`text` `count` times over; NULL if that is too long."""
    import polars as pl

    count = pl.when(~too_long(text, count)).then(count)
    many = text.repeat_by(count.clip(lower_bound=0)).list.join("")
    return pl.when(text.is_not_null() & count.is_not_null()).then(many)


def _padding(text: pl.Expr, size: pl.Expr, pad: pl.Expr) -> tuple[pl.Expr, pl.Expr]:
    """The text cut to `size`, and what is missing."""
    import polars as pl

    wanted = size.cast(pl.Int64).clip(0, TEXT_MAX // 4)
    missing = (wanted - text.str.len_chars().cast(pl.Int64)).clip(lower_bound=0)
    width = pad.str.len_chars().cast(pl.Int64)
    times = pl.when(width > 0).then((missing + width - 1).truncdiv(pl.max_horizontal(width, 1))).otherwise(0)
    kept = pl.when(wanted.is_not_null()).then(text.str.slice(0, wanted))
    return kept, repeat_text(pad, times).str.slice(0, missing)


def _too_wide(text: pl.Expr, size: pl.Expr, pad: pl.Expr | None = None) -> pl.Expr:
    return size > TEXT_MAX // 4


def _lpad(text: pl.Expr, size: pl.Expr, pad: pl.Expr | None = None) -> pl.Expr:
    import polars as pl

    kept, missing = _padding(text, size, pl.lit(" ") if pad is None else pad)
    return missing + kept


def _rpad(text: pl.Expr, size: pl.Expr, pad: pl.Expr | None = None) -> pl.Expr:
    import polars as pl

    kept, missing = _padding(text, size, pl.lit(" ") if pad is None else pad)
    return kept + missing


def _concat(*texts: pl.Expr) -> pl.Expr:
    import polars as pl

    return pl.concat_str(*texts) if texts else pl.lit("")


def _concat_ws(separator: pl.Expr, *texts: pl.Expr) -> pl.Expr:
    import polars as pl

    parts = [pl.when(text.is_not_null()).then(separator + text).otherwise(pl.lit("")) for text in texts]
    whole = pl.concat_str(*parts) if parts else pl.lit("")
    return pl.when(separator.is_not_null()).then(whole.str.slice(separator.str.len_chars()))


def _overlay(text: pl.Expr, patch: pl.Expr, start: pl.Expr, length: pl.Expr | None = None) -> pl.Expr:
    import polars as pl

    patched = patch.str.len_chars().cast(pl.Int64)
    cut = patched if length is None else pl.when(length >= 0).then(length.cast(pl.Int64)).otherwise(patched)
    position = start.cast(pl.Int64)
    head = substring(text, pl.lit(1), position - 1)
    rest = position + cut
    size = text.str.len_chars().cast(pl.Int64)
    first = pl.when(rest > 0).then(rest - 1).when(rest < 0).then(size + rest).otherwise(rest)
    whole = head + patch + text.str.slice(first.clip(lower_bound=0))
    return whole if length is None else pl.when(length.is_not_null()).then(whole)


def _split_part(text: pl.Expr, delimiter: pl.Expr, number: pl.Expr) -> pl.Expr:
    import polars as pl

    pieces = pl.when(delimiter == "").then(pl.concat_list(text)).otherwise(text.str.split(delimiter))
    index = pl.when(number > 0).then(number.cast(pl.Int64) - 1).otherwise(number.cast(pl.Int64))
    piece = pieces.list.get(index, null_on_oob=True).fill_null("")
    return pl.when(text.is_not_null() & delimiter.is_not_null() & number.is_not_null()).then(piece)


def _strip(method: str) -> KernelLowering:
    def build(text: pl.Expr, drop: pl.Expr | None = None) -> pl.Expr:
        import polars as pl

        if drop is None:
            return getattr(text.str, method)(" ")  # type: ignore[no-any-return]
        stripped = getattr(text.str, method)(drop)
        return pl.when(drop == "").then(text).when(drop.is_not_null()).then(stripped)

    return plain(build)


def _initcap(text: str) -> str:
    return " ".join(_capitalise(word) for word in text.lower().split(" "))


def _capitalise(word: str) -> str:
    """A small word with a capital; an i with a dot of its own is the small form of one letter, İ."""
    return "İ" + word[2:] if word.startswith("i\u0307") else word[:1].title() + word[1:]


def _translate(text: str, old: str, new: str) -> str:
    table: dict[int, str] = {}
    for number, letter in enumerate(old):
        table.setdefault(ord(letter), new[number] if number < len(new) else "")
    return text.translate(table)


def _chr(code: int) -> str:
    return "" if code < 0 else chr(code & 0xFF)


def _replace(text: str, sought: str, new: str = "") -> str:
    return text.replace(sought, new) if sought else text


def _lower_replace(arguments: Sequence[Lowered], signature: Signature) -> Lowered:
    """A literal that is sought is one vectorised call; one that differs from row to row goes to Python."""
    sought = arguments[1].literal
    if not sought:
        return by_row(_replace)(arguments, signature)
    new = "" if len(arguments) == 2 else arguments[2].literal
    if not isinstance(new, str):
        return by_row(_replace)(arguments, signature)
    return with_errors(arguments[0].value.str.replace_all(str(sought), new, literal=True), arguments)


def _concat_types(types: Sequence[DataType]) -> Signature | None:
    return alike(1, 1000, None, lambda kind: kind == VARCHAR)(types)


def _ws_types(types: Sequence[DataType]) -> Signature | None:
    return alike(2, 1000, None, lambda kind: kind == VARCHAR)(types)


def _spark_substring(arguments: Sequence[str], signature: Signature) -> str:
    return f"F.substr({', '.join(arguments)})"


def _spark_locate(arguments: Sequence[str], signature: Signature) -> str:
    return spark_builtin("locate")(arguments, signature)


def _spark_pad(name: str) -> SparkLowering:
    def lower(arguments: Sequence[str], signature: Signature) -> str:
        pad = [] if len(arguments) == 3 else ['F.lit(" ")']
        return f"F.{name}({', '.join([*arguments, *pad])})"

    return lower


_ONE_TEXT = overloads(((V,), V))
_TEXT_TEXT = overloads(((V, V), BOOLEAN))
_TRIM = overloads(((V,), V), ((V, V), V))
_COUNTED = overloads(((V, INT), V))
_PAD = overloads(((V, INT, V), V), ((V, INT), V))

FUNCTIONS: tuple[Function, ...] = (
    Function(
        "upper", _ONE_TEXT, plain(lambda a: a.str.to_uppercase()), spark_call("upper"), "In capitals.", "UPPER(text)",
        aliases=("ucase",),
    ),
    Function(
        "lower", _ONE_TEXT, plain(lambda a: a.str.to_lowercase()), spark_call("lower"), "In small letters.", "LOWER(text)",
        aliases=("lcase",),
    ),
    Function(
        "initcap", _ONE_TEXT, by_row(_initcap), spark_call("initcap"), "Each word, as blanks part them, with one capital.",
        "INITCAP(text)",
    ),
    Function(
        "trim", _TRIM, _strip("strip_chars"), spark_call("btrim"), "Without blanks, or the given characters, at both ends.",
        "TRIM(text [, characters])", aliases=("btrim",),
    ),
    Function(
        "ltrim", _TRIM, _strip("strip_chars_start"), spark_call("ltrim"), "Without blanks, or the given characters, at the start.",
        "LTRIM(text [, characters])",
    ),
    Function(
        "rtrim", _TRIM, _strip("strip_chars_end"), spark_call("rtrim"), "Without blanks, or the given characters, at the end.",
        "RTRIM(text [, characters])",
    ),
    Function(
        "substring", overloads(((V, INT, INT), V), ((V, INT), V)), plain(substring), _spark_substring,
        "From a position on, a number of characters; a negative position counts from the end.", "SUBSTRING(text, start [, length])",
        aliases=("substr", "mid"),
    ),
    Function("left", _COUNTED, plain(_take_left), spark_call("left"), "The first characters.", "LEFT(text, count)"),
    Function("right", _COUNTED, plain(_right), spark_call("right"), "The last characters.", "RIGHT(text, count)"),
    Function(
        "char_length", overloads(((V,), INT)), plain(lambda a: characters(a.str.len_chars())), spark_call("char_length"),
        "Number of code points.", "CHAR_LENGTH(text)", aliases=("character_length", "length", "len"),
    ),
    Function(
        "octet_length", overloads(((V,), INT), ((BYTES,), INT)), plain(lambda a: characters(_binary(a).bin.size())),
        spark_call("octet_length"), "Number of bytes, of text in UTF-8.", "OCTET_LENGTH(text)",
    ),
    Function(
        "bit_length", overloads(((V,), INT), ((BYTES,), INT)), plain(lambda a: characters(_binary(a).bin.size()) * 8),
        spark_call("bit_length"), "Number of bits, of text in UTF-8.", "BIT_LENGTH(text)",
    ),
    Function(
        "concat", _concat_types, plain(_concat), spark_call("concat"), "Texts one after the other; NULL if one is.",
        "a || b, CONCAT(a, b, ...)", aliases=("||",),
    ),
    Function(
        "concat_ws", _ws_types, eager(_concat_ws), spark_builtin("concat_ws"),
        "Texts with a separator between them; NULLs are passed over.", "CONCAT_WS(separator, a, ...)", null_in_null_out=False,
    ),
    Function(
        "replace", overloads(((V, V, V), V), ((V, V), V)), _lower_replace, spark_call("replace"),
        "Every occurrence of a text replaced, or removed.", "REPLACE(text, sought [, new])",
    ),
    Function("repeat", _COUNTED, failing(repeat_text, too_long, _TOO_LONG), spark_call("repeat"),
        "The text a number of times.", "REPEAT(text, count)"),
    Function(
        "space", overloads(((INT,), V)), failing(lambda a: repeat_text(_blank(), a), lambda a: a > TEXT_MAX, _TOO_LONG),
        spark_builtin("space"), "A number of blanks.",
        "SPACE(count)",
    ),
    Function("lpad", _PAD, failing(_lpad, _too_wide, _TOO_LONG), _spark_pad("lpad"),
        "Filled up on the left, or cut, to a length.", "LPAD(text, length [, pad])"),
    Function(
        "rpad", _PAD, failing(_rpad, _too_wide, _TOO_LONG), _spark_pad("rpad"),
        "Filled up on the right, or cut, to a length.",
        "RPAD(text, length [, pad])",
    ),
    Function(
        "position", overloads(((V, V), INT)), plain(lambda a, b: find_text(b, a)), _spark_locate,
        "Where a text first occurs in another, from 1; 0 if nowhere.", "POSITION(sought IN text), LOCATE(sought, text)",
    ),
    Function(
        "locate", overloads(((V, V, INT), INT), ((V, V), INT)),
        eager(lambda a, b, c=None: find_text(b, a) if c is None else _locate_from(a, b, c)), _spark_locate,
        "As POSITION, from a start on.", "LOCATE(sought, text [, start])", null_in_null_out=False,
    ),
    Function(
        "instr", overloads(((V, V), INT)), plain(find_text), spark_call("instr"),
        "Where the second text first occurs in the first, from 1; 0 if nowhere.", "INSTR(text, sought)",
    ),
    Function(
        "startswith", _TEXT_TEXT, plain(lambda a, b: a.str.starts_with(b)), spark_method("startswith"),
        "Whether the text starts so.", "STARTSWITH(text, start)", aliases=("starts_with",),
    ),
    Function(
        "endswith", _TEXT_TEXT, plain(lambda a, b: a.str.ends_with(b)), spark_method("endswith"), "Whether the text ends so.",
        "ENDSWITH(text, end)", aliases=("ends_with",),
    ),
    Function(
        "contains", _TEXT_TEXT, plain(lambda a, b: a.str.contains(b, literal=True)), spark_method("contains"),
        "Whether the text contains another.", "CONTAINS(text, sought)",
    ),
    Function(
        "split_part", overloads(((V, V, INT), V)), failing(_split_part, lambda a, b, n: n == 0, "SPLIT_PART number 0"),
        spark_call("split_part"), "One piece of the text, from 1, or from the end if negative; empty beyond the last.",
        "SPLIT_PART(text, delimiter, number)",
    ),
    Function(
        "ascii", overloads(((V,), INT)), by_row(lambda text: ord(text[0]) if text else 0), spark_call("ascii"),
        "Code point of the first character; 0 for an empty text.", "ASCII(text)",
    ),
    Function(
        "chr", overloads(((BIGINT,), V)), by_row(_chr), spark_call("char"),
        "The character of a code point below 256, others taken modulo 256.", "CHR(code)", aliases=("char",),
    ),
    Function(
        "translate", overloads(((V, V, V), V)), by_row(_translate), spark_builtin("translate"),
        "Characters replaced one by one; those without a partner vanish.", "TRANSLATE(text, from, to)",
    ),
    Function(
        "overlay", overloads(((V, V, INT, INT), V), ((V, V, INT), V)), plain(_overlay), spark_call("overlay"),
        "A part of the text replaced by another.", "OVERLAY(text PLACING patch FROM start [FOR length])",
    ),
    Function(
        "reverse", _ONE_TEXT, by_row(lambda text: text[::-1]), spark_call("reverse"), "The characters in the opposite order.",
        "REVERSE(text)",
    ),
)  # fmt: skip


def _binary(value: pl.Expr) -> pl.Expr:
    import polars as pl

    return value.cast(pl.Binary)


def _blank() -> pl.Expr:
    import polars as pl

    return pl.lit(" ")
