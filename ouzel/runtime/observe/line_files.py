"""Numbered files of JSON lines, `KIND-N.jsonl`: one process writes them, and whoever wants reads what has come since."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")


def list_line_files(folder: Path, kind: str) -> list[tuple[int, Path]]:
    """The files of a kind with their numbers, oldest first."""
    names = re.compile(rf"{re.escape(kind)}-(\d+)\.jsonl")
    found = [(int(name[1]), path) for path in folder.glob(f"{kind}-*.jsonl") if (name := names.fullmatch(path.name))]
    return sorted(found)


def read_whole_lines(path: Path, offset: int) -> bytes | None:
    """The whole lines behind an offset, which moves on by their length; None if the file is gone."""
    try:
        with path.open("rb") as file:
            file.seek(offset)
            text = file.read()
    except FileNotFoundError:
        return None
    return text[: text.rfind(b"\n") + 1]


def parse_lines(text: bytes, make: Callable[[Any], T], on_skipped: Callable[[], object] = lambda: None) -> Iterator[T]:
    """What is made of the fields of each line; one that a killed process left half, or that is damaged, is skipped, and told."""
    for line in filter(None, text.split(b"\n")):
        try:
            made = make(json.loads(line))
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            on_skipped()
            continue
        yield made
