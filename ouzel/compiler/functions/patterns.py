"""Patterns of LIKE and SIMILAR TO, and Java regular expressions, translated so that Polars' (Rust) and Python's engines match what
Java would.

Only the part of Java's syntax that all three share is taken: literals, `.`, classes, the escapes below, groups, alternation, greedy
and lazy repetition, `^` and `$`. Look-around, back references, possessive repetition, `\\p` and flags but a leading `(?i)` are refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from ouzel.errors import NotSupported, QueryError

_SETS = {"d": "0-9", "w": "a-zA-Z0-9_", "s": r" \t\n\x0b\f\r"}
_CONTROLS = {"t": r"\t", "n": r"\n", "r": r"\r", "f": r"\f"}
_SPECIAL = set(r"\.+*?()|[]{}^$#&-~/ ")
_ANY = r"[^\n\r\u0085\u2028\u2029]"
_END_PYTHON = r"(?=(?:\r\n|[\n\r\u0085\u2028\u2029])?\Z)"


@dataclass(frozen=True)
class Regex:
    """One pattern for both engines; `rust` is None where only Python's can say it (`$`, which in Java may precede a last line end).

    `certain` are the groups that take part in every match; 0 is the match itself.
    """

    python: str
    rust: str | None
    groups: int
    can_be_empty: bool
    certain: frozenset[int]


def refuse_construct(pattern: str, part: str) -> NotSupported:
    """The error for a construct that is not taken."""
    return NotSupported(
        f"the regular expression '{pattern}' uses {part}",
        instead="use literals, ., classes, \\d \\w \\s \\b, groups, |, repetition, ^ and $",
    )


def java_regex(pattern: str) -> Regex:
    """A Java regular expression for both engines.

    Raises:
        NotSupported: it uses what the engines do not share.
        QueryError: it is malformed.
    """
    flags = "(?i)" if pattern.startswith("(?i)") else ""
    body = pattern.removeprefix("(?i)")
    if flags and not body.isascii():
        raise refuse_construct(pattern, "(?i) on letters beyond ASCII")
    translated = "".join(_translate(pattern, body))
    try:
        compiled = re.compile(flags + translated.replace("\0", _END_PYTHON), re.ASCII)
    except re.error as error:
        raise QueryError(f"the regular expression '{pattern}' is malformed: {error}") from error
    rust = None if "\0" in translated or flags else translated.replace(r"\b", r"(?-u:\b)")
    parsed = re._parser.parse(compiled.pattern, re.ASCII)
    certain = frozenset((0, *_find_certain(parsed)))
    return Regex(compiled.pattern, rust, compiled.groups, parsed.getwidth()[0] == 0, certain)


def _find_certain(parsed: Iterable[tuple[object, Any]]) -> Iterator[int]:
    """The groups outside of alternatives and of what may be repeated no times."""
    constants = re._constants
    for operation, operand in parsed:
        if operation is constants.SUBPATTERN:
            number, _, _, inner = operand
            yield from (number,) if number else ()
            yield from _find_certain(inner)
        elif operation in (constants.MAX_REPEAT, constants.MIN_REPEAT) and operand[0] > 0:
            yield from _find_certain(operand[2])


def _translate(pattern: str, body: str) -> list[str]:
    parts, position = [], 0
    while position < len(body):
        letter = body[position]
        if letter == "\\":
            parts.append(_escape(pattern, body[position + 1 : position + 2], False))
            position += 2
        elif letter == "[":
            text, position = _class(pattern, body, position)
            parts.append(text)
        else:
            _check(pattern, body, position)
            parts.append({".": _ANY, "$": "\0"}.get(letter, _literal(letter)))
            position += 1
    return parts


def _literal(letter: str) -> str:
    return "\\" + letter if letter in "#&~- /" else letter


def _check(pattern: str, body: str, position: int) -> None:
    rest = body[position:]
    if rest.startswith("(?") and not rest.startswith("(?:"):
        raise refuse_construct(pattern, rest[:3])
    if re.match(r"[*+?}]\+", rest):
        raise refuse_construct(pattern, "possessive repetition")
    if rest[0] == "{" and not re.match(r"\{\d+(,\d*)?\}", rest, re.ASCII):
        raise refuse_construct(pattern, "a brace that counts nothing")
    if rest[0] == "}" and not re.search(r"\{\d+(,\d*)?$", body[:position], re.ASCII):
        raise refuse_construct(pattern, "a brace that counts nothing")
    if rest[0] == "]":
        raise refuse_construct(pattern, "] outside a class")


def _escape(pattern: str, letter: str, inside: bool) -> str:
    if letter in _SETS:
        return _SETS[letter] if inside else f"[{_SETS[letter]}]"
    if letter.lower() in _SETS and not inside and letter:
        return f"[^{_SETS[letter.lower()]}]"
    if letter == "b" and not inside:
        return r"\b"
    if letter in _CONTROLS:
        return _CONTROLS[letter]
    if letter and not letter.isalnum():
        return re.escape(letter)
    raise refuse_construct(pattern, f"\\{letter}")


def _class(pattern: str, body: str, start: int) -> tuple[str, int]:
    position = start + 1
    parts = ["["]
    if body[position : position + 1] == "^":
        parts.append("^")
        position += 1
    while position < len(body) and body[position] != "]":
        letter = body[position]
        if letter == "[" or body.startswith("&&", position):
            raise refuse_construct(pattern, "a class in a class")
        if letter == "\\":
            parts.append(_escape(pattern, body[position + 1 : position + 2], True))
            position += 2
            continue
        parts.append("\\" + letter if letter in "&~#^" else letter)
        position += 1
    if position >= len(body) or parts[-1] in ("[", "^"):
        raise refuse_construct(pattern, "an empty or open class")
    return "".join(parts) + "]", position + 1


def java_replacement(text: str, groups: int) -> tuple[str, str]:
    """Java's replacement (`$1`, `\\$`) as Rust's and as Python's.

    Raises:
        QueryError: it names a group that the pattern has not.
    """
    rust, python, position = "", "", 0
    while position < len(text):
        letter = text[position]
        if letter == "$":
            group, position = _read_group(text, position + 1, groups)
            rust, python = rust + f"${{{group}}}", python + f"\\g<{group}>"
            continue
        if letter == "\\":
            position += 1
            letter = text[position : position + 1]
            if not letter:
                raise QueryError(f"the replacement '{text}' ends in an escape", instead="write \\\\ for a backslash")
        rust += "$$" if letter == "$" else letter
        python += "\\\\" if letter == "\\" else letter
        position += 1
    return rust, python


def _read_group(text: str, position: int, groups: int) -> tuple[int, int]:
    """The group that a number behind a dollar names, and where the number ends: Java takes digits as long as there is such a group."""
    found = re.match("[0-9]", text[position:])
    if not found or (group := int(found[0])) > groups:
        raise QueryError(
            f"the replacement '{text}' names a group that the pattern has not", instead="write \\$ for a dollar"
        )
    while (more := re.match("[0-9]", text[position + 1 :])) and group * 10 + int(more[0]) <= groups:
        group, position = group * 10 + int(more[0]), position + 1
    return group, position + 1


def like_regex(pattern: str, escape: str = "\\") -> str:
    """A LIKE pattern as a regular expression that both engines read alike; it must match the whole text.

    Raises:
        ValueError: an escape stands before what needs none, or at the end.
    """
    parts, position = [], 0
    while position < len(pattern):
        letter = pattern[position]
        if letter == escape:
            position += 1
            letter = pattern[position : position + 1]
            if letter not in ("_", "%", escape) or not letter:
                raise ValueError(pattern)
            parts.append(re.escape(letter))
        else:
            parts.append({"_": ".", "%": ".*"}.get(letter, re.escape(letter)))
        position += 1
    return r"(?s)\A" + "".join(parts)


_REPEATS = re.compile(r"[*+?]|\{\d+(,\d*)?\}", re.ASCII)
_WILD = {"_": "(?s:.)", "%": "(?s:.*)", "(": "(?:", ")": ")", "|": "|"}


def similar_regex(pattern: str, escape: str = "\\") -> str:
    """A pattern of SIMILAR TO as a regular expression of the whole text, which Java and Rust read alike.

    Raises:
        NotSupported: a class with a name, or one that leaves letters out of others.
        QueryError: it is malformed.
    """
    parts, position, repeated = [], 0, False
    while position < len(pattern):
        letter, found = pattern[position], _REPEATS.match(pattern, position)
        if letter == escape:
            part, position = _literal_of(pattern, position + 1), position + 2
        elif letter == "[":
            part, position = _similar_class(pattern, position + 1, escape)
        elif found:
            if repeated:
                raise _bad_pattern(pattern, f"{found[0]} follows another repetition")
            part, position = found[0], found.end()
        elif letter in "{}]":
            raise _bad_pattern(pattern, f"{letter} stands alone")
        else:
            part, position = _WILD.get(letter) or _literal_of(pattern, position), position + 1
        repeated = found is not None and letter != escape
        parts.append(part)
    translated = "".join(parts)
    try:
        re.compile(translated)
    except re.error as error:
        raise _bad_pattern(pattern, error.msg) from error
    return rf"\A(?:{translated})\z"


def _bad_pattern(pattern: str, problem: str) -> QueryError:
    return QueryError(
        f"the pattern '{pattern}' of SIMILAR TO is malformed: {problem}",
        instead="write % _ | * + ? {2,3} ( ) [a-z], and the escape \\ before what means itself",
    )


def _literal_of(pattern: str, position: int) -> str:
    """The letter at `position`, which means itself."""
    letter = pattern[position : position + 1]
    if not letter:
        raise _bad_pattern(pattern, "it ends in an escape")
    return "\\" + letter if letter in _SPECIAL else letter


def _similar_class(pattern: str, position: int, escape: str) -> tuple[str, int]:
    """The class whose bracket stands before `position`, and where it ends."""
    negated = pattern.startswith("^", position)
    parts, position = ["[^" if negated else "["], position + negated
    while not pattern.startswith("]", position) or len(parts) == 1:
        letter = pattern[position : position + 1]
        if letter in ("]", ""):
            raise _bad_pattern(pattern, "a class is open or empty")
        if letter == "[" or letter == "^":
            reason = "a class with a name" if letter == "[" else "a class that leaves letters out of others"
            raise NotSupported(
                f"the pattern '{pattern}' of SIMILAR TO uses {reason}, which is not supported",
                instead=f"list the letters: [a-zA-Z0-9]; or write {escape}{letter} for the sign itself",
            )
        is_range = letter == "-" and len(parts) > 1 and parts[-2] != "-" and not pattern.startswith("]", position + 1)
        position += letter == escape
        parts.append("-" if is_range else _literal_of(pattern, position))
        position += 1
    return "".join(parts) + "]", position + 1
