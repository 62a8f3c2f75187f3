"""Whatever is done to a text, it compiles or is refused as a QueryError that points into it: never a crash."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from ouzel.compiler.depth import room_for_depth
from ouzel.compiler.sql import compile_sql
from ouzel.compiler.sql.syntax.source import QueryText
from ouzel.errors import QueryError
from tests.sql.connectors import CONNECTORS, TABLES

FOLDER = Path(__file__).parent
TEXTS = [path.read_text() for path in sorted([*FOLDER.glob("*.sql"), *(FOLDER.parent / "refused").glob("*.sql")])]
STRAY = [
    "(",
    ")",
    ",",
    ";",
    ".",
    "'",
    '"',
    "*",
    "<",
    "AS",
    "FROM",
    "SELECT",
    "GROUP BY",
    "1",
    "x",
    "NULL",
    "INTERVAL",
    "[",
    "]",
    "::",
    "CASE",
    "-",
]


def broken(text: str, random_: random.Random) -> str:
    """The text with some tokens lost, doubled, swapped or strayed in."""
    try:
        spans = [(token.start, token.end + 1) for token in QueryText(text).tokens()]
    except QueryError:
        return text[: random_.randrange(len(text))]
    pieces = [text[start:end] for start, end in spans]
    for _ in range(random_.randint(1, 3)):
        at = random_.randrange(len(pieces))
        match random_.randrange(4):
            case 0 if len(pieces) > 1:
                del pieces[at]
            case 1:
                pieces.insert(at, random_.choice(pieces))
            case 2:
                pieces.insert(at, random_.choice(STRAY))
            case _:
                other = random_.randrange(len(pieces))
                pieces[at], pieces[other] = pieces[other], pieces[at]
    return " ".join(pieces)


@pytest.mark.parametrize("seed", range(8))
def test_a_broken_text_is_refused_in_words(seed: int) -> None:
    random_ = random.Random(seed)
    for _ in range(25):
        query = broken(random_.choice(TEXTS), random_)
        text = query if "CREATE TABLE" in query else TABLES + query
        try:
            with room_for_depth():
                compile_sql(text, CONNECTORS)
        except QueryError as error:
            assert error.problem, query
            assert 0 <= error.at < len(text), f"{error.problem} has no place in: {query}"
            assert "sqlglot" not in str(error)
            assert "Token" not in error.problem
        except Exception as error:
            raise AssertionError(f"seed {seed}: {type(error).__name__} {error} in: {query}") from error
