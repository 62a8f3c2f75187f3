"""What is wrong with a line that is no JSON, and files whose objects stand over several lines."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence

from ouzel.connectors.misfits import name_beside

ONE_A_LINE = "and a record is one object a line"
"""Why lines that are part of an object cannot be read."""

_SHOWN = 20
"""Characters that a message quotes of what is no JSON."""


def describe_broken(value: bytes, error: Exception) -> str:
    """Why a record is no JSON object, by the `error` of the parser."""
    text = value.decode(errors="replace").strip()
    if text == "{":
        return f"it is {{ alone, {ONE_A_LINE}"
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    if not isinstance(error, json.JSONDecodeError):
        return f"it is not JSON ({error})"
    at = error.pos - len(error.doc) + len(error.doc.lstrip())
    if text.startswith("{") and at >= len(text):
        return f"it ends before its object does, {ONE_A_LINE}"
    if error.msg.startswith("Unterminated"):
        return f"it is not JSON: the text that begins at character {at + 1} has no closing quote"
    shown = text[at : at + _SHOWN] + "..." * (len(text) > at + _SHOWN)
    return f"it is not JSON at character {at + 1}, {shown}" if shown else "it is not JSON: it ends too early"


def describe_spread(lines: Sequence[bytes], path: str) -> str:
    """What to say of a file that begins with an object over several of its lines; empty of every other."""
    if not lines[0].lstrip().startswith(b"{") or _is_json(lines[0]):
        return ""
    text = b"\n".join(lines).decode(errors="replace").lstrip()
    try:
        json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        if text.partition("\n")[0].strip() != "{":
            return ""
    begins = "is { alone" if lines[0].strip() == b"{" else "is a part of an object"
    return f"the first line of {path} {begins}: an object stands over several lines; {advise_lines(path)}"


def advise_lines(path: str) -> str:
    """How objects over several lines become one a line."""
    return f"`jq -c . {shlex.quote(path)} > {name_beside(path, 'lines')}` writes one object a line"


def _is_json(line: bytes) -> bool:
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True
