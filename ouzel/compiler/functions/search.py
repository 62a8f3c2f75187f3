"""LIKE, ILIKE, SIMILAR TO, regular expressions and SPLIT."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ouzel.compiler.expressions import Expression, Literal
from ouzel.compiler.functions.lowering import constant_of, map_rows, parenthesize, plain, quote, spark_call, with_errors
from ouzel.compiler.functions.patterns import Regex, java_regex, java_replacement, like_regex, similar_regex
from ouzel.compiler.functions.registry import Function, Lowered, Signature
from ouzel.compiler.functions.signatures import overloads
from ouzel.compiler.types import BOOLEAN, INT, VARCHAR, ArrayType, DataType, to_polars
from ouzel.errors import QueryError

if TYPE_CHECKING:
    import polars as pl

V = VARCHAR
_BAD_LIKE = "LIKE pattern with an escape before what needs none"


def literal_at(name: str, *positions: int) -> Callable[[Sequence[Expression]], None]:
    """A check that the arguments at `positions` are literals that are not NULL, where there are that many."""

    def check(arguments: Sequence[Expression]) -> None:
        for position in positions:
            argument = arguments[position] if position < len(arguments) else None
            if argument is not None and not (isinstance(argument, Literal) and argument.value is not None):
                shown = argument.written.part if argument.written else argument
                raise QueryError(
                    f"argument {position + 1} of {name.upper()} must be a literal, not {shown}",
                    instead="write the constant itself",
                )

    return check


def text_at(arguments: Sequence[Expression], position: int) -> str | None:
    """The literal text at `position`, if there is one."""
    argument = arguments[position] if position < len(arguments) else None
    return argument.value if isinstance(argument, Literal) and isinstance(argument.value, str) else None


# --- LIKE


def _escape_of(arguments: Sequence[Expression]) -> str | None:
    """The third argument, if there is one."""
    escape = text_at(arguments, 2)
    if len(arguments) == 3 and (escape is None or len(escape) != 1):
        raise QueryError("ESCAPE takes a literal of one character", instead="write LIKE pattern ESCAPE '!'")
    return escape


def _check_like(arguments: Sequence[Expression]) -> None:
    pattern, escape = text_at(arguments, 1), _escape_of(arguments)
    if pattern is not None:
        try:
            like_regex(pattern, escape or "\\")
        except ValueError:
            problem = f"in the LIKE pattern '{pattern}' an escape stands before what needs none"
            raise QueryError(problem, instead="write it twice to mean itself, and else before %, _ or itself") from None


def _like(fold_case: bool) -> Callable[[Sequence[Lowered], Signature], Lowered]:
    def lower(arguments: Sequence[Lowered], signature: Signature) -> Lowered:
        text = arguments[0].value.str.to_lowercase() if fold_case else arguments[0].value
        escape = arguments[2].literal if len(arguments) == 3 else "\\"
        pattern = arguments[1].literal
        assert isinstance(escape, str)
        if isinstance(pattern, str):
            folded = pattern.lower() if fold_case else pattern
            return with_errors(_matches(text, folded, escape), arguments)
        other = arguments[1].value.str.to_lowercase() if fold_case else arguments[1].value
        both = map_rows(
            (text, other), lambda a, b: bool(re.match(like_regex(b, escape) + r"\Z", a)), to_polars(BOOLEAN)
        )
        return with_errors(both.struct.field("value"), arguments, both.struct.field("failed"), _BAD_LIKE)

    return lower


def _matches(text: pl.Expr, pattern: str, escape: str) -> pl.Expr:
    """A literal pattern: the simple shapes are plain searches."""
    inner = pattern.strip("%")
    if not any(letter in inner for letter in ("%", "_", escape)) and not pattern.endswith(escape):
        start, end = pattern.startswith("%"), pattern.endswith("%")
        if start and end:
            return text.str.contains(inner, literal=True)
        if start or end:
            return text.str.ends_with(inner) if start else text.str.starts_with(inner)
        return text == inner
    return text.str.contains(like_regex(pattern, escape) + r"\z")


def _spark_like(name: str) -> Callable[[Sequence[str], Signature], str]:
    def lower(arguments: Sequence[str], signature: Signature) -> str:
        bare = constant_of(arguments[1])
        if len(arguments) == 2 and bare != arguments[1]:
            return f"{parenthesize(arguments[0])}.{name}({bare})"
        return f"F.{name}({', '.join(arguments)})"

    return lower


# --- SIMILAR TO


def _check_similar(arguments: Sequence[Expression]) -> None:
    literal_at("similar to", 1)(arguments)
    pattern, escape = text_at(arguments, 1), _escape_of(arguments)
    if pattern is not None:
        similar_regex(pattern, escape or "\\")


def _similar(arguments: Sequence[Lowered], signature: Signature) -> Lowered:
    pattern, *escape = (argument.literal for argument in arguments[1:])
    return with_errors(arguments[0].value.str.contains(similar_regex(str(pattern), *map(str, escape))), arguments)


def _spark_similar(arguments: Sequence[str], signature: Signature) -> str:
    return f"F.rlike({arguments[0]}, F.lit({quote(similar_regex(*map(_constant_text, arguments[1:])))}))"


# --- regular expressions


def _check_pattern(name: str) -> Callable[[Sequence[Expression]], None]:
    literal = literal_at(name, 1, 2)

    def check(arguments: Sequence[Expression]) -> None:
        literal(arguments)
        pattern = text_at(arguments, 1)
        if pattern is None:
            return
        regex = java_regex(pattern)
        third = arguments[2] if len(arguments) == 3 else None
        if isinstance(third, Literal) and isinstance(third.value, str):
            java_replacement(third.value, regex.groups)
        if isinstance(third, Literal) and isinstance(third.value, int) and not 0 <= third.value <= regex.groups:
            raise QueryError(f"the regular expression '{pattern}' has {regex.groups} groups, not a group {third.value}")

    return check


def _regex_of(argument: Lowered) -> Regex:
    assert isinstance(argument.literal, str)
    return java_regex(argument.literal)


def _by_python(function: Callable[[str], object], arguments: Sequence[Lowered], kind: DataType) -> Lowered:
    both = map_rows((arguments[0].value,), function, to_polars(kind))
    return with_errors(both.struct.field("value"), arguments)


def _rlike(arguments: Sequence[Lowered], signature: Signature) -> Lowered:
    regex = _regex_of(arguments[1])
    if regex.rust is not None:
        return with_errors(arguments[0].value.str.contains(regex.rust), arguments)
    compiled = re.compile(regex.python, re.ASCII)
    return _by_python(lambda text: bool(compiled.search(text)), arguments, BOOLEAN)


def _extract(arguments: Sequence[Lowered], signature: Signature) -> Lowered:
    regex = _regex_of(arguments[1])
    group = arguments[2].literal if len(arguments) == 3 else 0
    assert isinstance(group, int)
    if regex.rust is not None:
        text = arguments[0].value
        import polars as pl

        found = text.str.extract(regex.rust, group)
        if group in regex.certain:
            return with_errors(found, arguments)
        in_match = found.fill_null("")  # a group that takes no part in a match is empty
        return with_errors(pl.when(text.str.contains(regex.rust)).then(in_match), arguments)
    compiled = re.compile(regex.python, re.ASCII)

    def extract(text: str) -> str | None:
        found = compiled.search(text)
        return (found[group] or "") if found else None

    return _by_python(extract, arguments, VARCHAR)


def _instr(arguments: Sequence[Lowered], signature: Signature) -> Lowered:
    compiled = re.compile(_regex_of(arguments[1]).python, re.ASCII)

    def position(text: str) -> int:
        found = compiled.search(text)
        return found.start() + 1 if found else 0

    return _by_python(position, arguments, INT)


def _replace(arguments: Sequence[Lowered], signature: Signature) -> Lowered:
    regex = _regex_of(arguments[1])
    assert isinstance(arguments[2].literal, str)
    rust, python = java_replacement(arguments[2].literal, regex.groups)
    if regex.rust is not None and not regex.can_be_empty:
        return with_errors(arguments[0].value.str.replace_all(regex.rust, rust), arguments)
    compiled = re.compile(regex.python, re.ASCII)
    return _by_python(lambda text: compiled.sub(python, text), arguments, VARCHAR)


def _count(arguments: Sequence[Lowered], signature: Signature) -> Lowered:
    regex = _regex_of(arguments[1])
    if regex.rust is not None and not regex.can_be_empty:
        return with_errors(arguments[0].value.str.count_matches(regex.rust).cast(to_polars(INT)), arguments)
    compiled = re.compile(regex.python, re.ASCII)
    return _by_python(lambda text: sum(1 for _ in compiled.finditer(text)), arguments, INT)


def _spark_extract(arguments: Sequence[str], signature: Signature) -> str:
    """The first of all matches: Spark's regexp_extract has an empty text where there is none. What follows a match is taken with it, so
    that no other is sought.
    """
    group = constant_of(arguments[2]) if len(arguments) == 3 else "0"
    opening, taken = ("(", "1") if group == "0" else ("(?:", group)
    pattern = quote(f"{opening}{_constant_text(arguments[1])})(?s:.*)")
    return f"F.get(F.regexp_extract_all({arguments[0]}, F.lit({pattern}), {taken}), F.lit(0))"


# --- split


def _check_split(name: str) -> Callable[[Sequence[Expression]], None]:
    literal = literal_at(name, 1)

    def check(arguments: Sequence[Expression]) -> None:
        literal(arguments)
        if text_at(arguments, 1) == "":
            raise QueryError(f"the delimiter of {name.upper()} is empty", instead="name the text that parts the pieces")
        index = arguments[2] if len(arguments) > 2 else None
        if isinstance(index, Literal) and isinstance(index.value, int) and index.value < 0:
            text, delimiter = (part.written.part if part.written else str(part) for part in arguments[:2])
            raise QueryError(
                f"{name.upper()} counts pieces from 0, and has none of number {index.value}",
                instead=f"write ELEMENT_AT(SPLIT({text}, {delimiter}), {index.value}) to count from the end",
            )

    return check


def _split_index(text: pl.Expr, delimiter: pl.Expr, index: pl.Expr) -> pl.Expr:
    import polars as pl

    number = pl.when(index >= 0).then(index)
    return text.str.split(delimiter).list.get(number, null_on_oob=True)


def _regex_text(text: str) -> str:
    """A literal's text as a Java regular expression that matches just it."""
    return quote("".join("\\" + letter if letter in _SPECIAL else letter for letter in _constant_text(text)))


def _constant_text(text: str) -> str:
    """The value of a literal's text."""
    import ast

    return str(ast.literal_eval(constant_of(text)))


_SPECIAL = frozenset("\\^$.|?*+()[]{}")


def _spark_split(arguments: Sequence[str], signature: Signature) -> str:
    return f"F.split({arguments[0]}, {_regex_text(arguments[1])})"


_PATTERNS: tuple[object, ...] = (r"[a-z]+", r"(\d+)-(\d+)", r"a|b", r"^\s*x?", r"o$", r"(?i)ab", r"\bw.")
_LIKES: tuple[object, ...] = ("a%", "%b", "%c%", "_b%", "abc", "%", "", "a\\%%", "%_\\_")
_SIMILAR: tuple[object, ...] = (
    "%(a|b)%", "[a-z]+", "_{2,3}", "a|%c_?", "([^a-c]|\\%)*", "x{2,}%|", "[-+a\\]]*.%", "(a%)?b$", "^%", "%[&~#.]%",
)  # fmt: skip
_LIKE_TYPES = overloads(((V, V), BOOLEAN), ((V, V, V), BOOLEAN))
FUNCTIONS: tuple[Function, ...] = (
    Function(
        "like", _LIKE_TYPES, _like(False), _spark_like("like"), "Whether the whole text fits a pattern of % and _; \\ escapes.",
        "text LIKE pattern [ESCAPE c]", check=_check_like, examples=((1, _LIKES), (2, ("!",))),
    ),
    Function(
        "ilike", _LIKE_TYPES, _like(True), _spark_like("ilike"), "LIKE without regard to case.",
        "text ILIKE pattern [ESCAPE c]", check=_check_like, examples=((1, _LIKES), (2, ("!",))),
    ),
    Function(
        "similar_to", _LIKE_TYPES, _similar, _spark_similar,
        "Whether the whole text fits a pattern of % _ | * + ? {m,n} ( ) [ ]; \\ escapes.", "text SIMILAR TO pattern [ESCAPE c]",
        check=_check_similar, examples=((1, _SIMILAR), (2, ("!",))),
    ),
    Function(
        "rlike", overloads(((V, V), BOOLEAN)), _rlike, spark_call("rlike"), "Whether a regular expression occurs in the text.",
        "REGEXP(text, pattern), text RLIKE pattern", aliases=("regexp", "regexp_like"), check=_check_pattern("rlike"),
        examples=((1, _PATTERNS),),
    ),
    Function(
        "regexp_extract", overloads(((V, V, INT), V), ((V, V), V)), _extract, _spark_extract,
        "The first match of a regular expression, or of a group in it; NULL if there is none.",
        "REGEXP_EXTRACT(text, pattern [, group])", check=_check_pattern("regexp_extract"),
        examples=((1, (*_PATTERNS, r"(a)|(b)", r"(b*?)(?:a|ab)")), (2, (0, 1))),
    ),
    Function(
        "regexp_substr", overloads(((V, V), V)), _extract, _spark_extract, "The first match; NULL if there is none.",
        "REGEXP_SUBSTR(text, pattern)", check=_check_pattern("regexp_substr"), examples=((1, _PATTERNS),),
    ),
    Function(
        "regexp_instr", overloads(((V, V), INT)), _instr, spark_call("regexp_instr"),
        "Where the first match of a regular expression begins; 0 if there is none.", "REGEXP_INSTR(text, pattern)",
        check=_check_pattern("regexp_instr"), examples=((1, _PATTERNS),),
    ),
    Function(
        "regexp_replace", overloads(((V, V, V), V)), _replace, spark_call("regexp_replace", 1, 2),
        "Every match of a regular expression replaced; $1 is its first group.", "REGEXP_REPLACE(text, pattern, new)",
        check=_check_pattern("regexp_replace"), examples=((1, _PATTERNS), (2, ("", "<$0>", "\\$x"))),
    ),
    Function(
        "regexp_count", overloads(((V, V), INT)), _count, spark_call("regexp_count"), "How often a regular expression matches.",
        "REGEXP_COUNT(text, pattern)", check=_check_pattern("regexp_count"), examples=((1, _PATTERNS),),
    ),
    Function(
        "split", overloads(((V, V), ArrayType(V))), plain(lambda a, b: a.str.split(b)), _spark_split,
        "The pieces of the text between a delimiter.", "SPLIT(text, delimiter)", check=_check_split("split"),
        examples=((1, (",", " ", "a.", "é")),),
    ),
    Function(
        "split_index", overloads(((V, V, INT), V)), plain(_split_index),
        lambda a, s: f"F.get({_spark_split(a[:2], s)}, {a[2]})",
        "One piece of the text, from 0; NULL if there is none.", "SPLIT_INDEX(text, delimiter, index)",
        check=_check_split("split_index"), null_in_null_out=True, examples=((1, (",", " ")),),
    ),
)  # fmt: skip
