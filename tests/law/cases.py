"""The law's queries, read from `queries/*.sql`: each once in Ouzel's SQL and, where the spelling differs, once in the oracle's.

-- query: name
SELECT ... ;            statements before the last one may be views and SET
-- duckdb:              optional: the same question as DuckDB spells it
SELECT ... ;
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ouzel.compiler.plan import Program
from ouzel.session import load_text

HERE = Path(__file__).parent
PRELUDE = (HERE / "prelude.sql").read_text(encoding="utf-8")
TABLES = {statement.split()[2]: statement for statement in PRELUDE.split("\n\n")}
"""The statement of each of the law's tables, by its name."""


@dataclass(frozen=True)
class Case:
    """One question: its family (the file), its name, and both spellings."""

    family: str
    name: str
    text: str
    oracle: str

    def __str__(self) -> str:
        return self.name

    @property
    def program(self) -> str:
        """The query behind those of the shared tables that it names: the fewer, the sooner it is compiled."""
        named = set(re.findall(r"\w+", self.text))
        return "\n".join([*(statement for name, statement in TABLES.items() if name in named), self.text])

    def write(self, directory: Path) -> Path:
        """Its program as a file in `directory`, where the folder `data` is."""
        path = directory / f"{self.name}.sql"
        if not path.exists():
            path.write_text(f"{self.program}\n", encoding="utf-8")
        return path


def read_cases() -> tuple[Case, ...]:
    """All cases, file by file."""
    return tuple(case for path in sorted((HERE / "queries").glob("*.sql")) for case in _cases_of(path))


def _cases_of(path: Path) -> list[Case]:
    _, *parts = re.split(r"^-- query: (\w+)\n", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return [_case(path.stem, name, body) for name, body in zip(parts[::2], parts[1::2], strict=True)]


def _case(family: str, name: str, body: str) -> Case:
    text, _, oracle = body.partition("-- duckdb:\n")
    return Case(family, name, text.strip(), (oracle or text).strip())


CASES = read_cases()
ON_TIME = tuple(case for case in CASES if case.family != "late")
LATE = tuple(case for case in CASES if case.family == "late")


@cache
def compiled(case: Case) -> Program:
    """The case as a plan."""
    return load_text(case.program, Path(), case.name).program
