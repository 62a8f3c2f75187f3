"""What may not be in the repository, and what has to be."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from ouzel.cli.loops import read_json
from ouzel.connectors.formats.json import leaves as json_leaves
from ouzel.connectors.formats.json import scan as json_scan
from ouzel.connectors.formats.json import times as json_times
from tests.house.source import ROOT, listed, short, tracked

FORBIDDEN = {
    r"/work/(?!\*)": "a path of somebody's machine",
    r"/home/[a-z]+/|/Users/[A-Z]?[a-z]+/|/root/": "a path of somebody's machine",
    r"pypi\.org|pythonhosted\.org|registry\.npmjs\.org|repo1?\.maven\.|proxy\.golang\.org|files\.pythonhosted": "a registry's host name",
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----|AKIA[0-9A-Z]{16}": "a secret",
}
TEXT = {
    ".py", ".md", ".sql", ".toml", ".yaml", ".yml", ".proto", ".lark", ".txt", ".csv", ".pyi", ".plan", ".xml", ".svg", ".java", ".typed",
    ".html", ".css", ".js", "",
}  # fmt: skip
SMALL_INPUTS = {ROOT / "tests/found", ROOT / "sql_examples/shop"}
"""Where small inputs and answers are kept too."""

PICTURES = ROOT / "docs/pictures"
"""Where pictures of pages are kept; their size is bounded by tests/tracker/test_pictures.py, which takes them."""


def kinds(path: Path) -> set[str]:
    """How the name of a file there may end."""
    if path.parent == PICTURES:
        return {".webp", ".txt"}
    return TEXT | {".json", ".jsonl"} if SMALL_INPUTS & set(path.parents) else TEXT


def test_nothing_forbidden() -> None:
    wrong = [
        f"{short(path)}: '{found.group()}' is {what}"
        for path in tracked()
        if path.suffix in kinds(path) and path != Path(__file__)
        for pattern, what in FORBIDDEN.items()
        if (found := re.search(pattern, path.read_text(errors="replace")))
    ]
    assert not wrong, listed(wrong)


def test_nothing_of_another_kind() -> None:
    strange = [short(path) for path in tracked() if path.suffix not in kinds(path)]
    assert not strange, (
        f"{listed(strange)}: logs, crash reports and data are not kept in git; another kind of text belongs into TEXT"
    )


def test_nothing_large() -> None:
    large = [short(path) for path in tracked() if path.stat().st_size > 1_000_000]
    assert not large, f"{large}: data is made by `make data`, not kept in git"


def test_a_newcomer_finds() -> None:
    names = [
        "README.md",
        "ARCHITECTURE.md",
        "CONTRIBUTING.md",
        "CHANGELOG.md",
        "LICENSE",
        "Makefile",
        ".ci/run",
        ".pre-commit-config.yaml",
    ]
    missing = [name for name in names if not (ROOT / name).exists() or not (ROOT / name).stat().st_size]
    assert not missing


def test_the_architecture_fits_on_four_screens() -> None:
    assert len((ROOT / "ARCHITECTURE.md").read_text().splitlines()) <= 160


def test_ci_runs_what_the_readme_says() -> None:
    commands = [
        line
        for line in (ROOT / ".ci/run").read_text().splitlines()
        if line and not line.startswith(("#", "set ", "cd "))
    ]
    assert commands == ["make test"]
    assert re.search(r"^ *make test\b", (ROOT / "README.md").read_text(), re.M)


def test_every_target_explains_itself_and_the_readme_names_no_other() -> None:
    text = (ROOT / "Makefile").read_text()
    phony = re.search(r"^\.PHONY: (.*)$", text, re.M)
    assert phony
    described = set(re.findall(r"^([a-z-]+):.*## ", text, re.M))
    assert set(phony[1].split()) - described == {"jdk"}
    for page in ("README.md", "CONTRIBUTING.md", "ARCHITECTURE.md"):
        assert set(re.findall(r"(?:^ +|`)make ([a-z-]+)", (ROOT / page).read_text(), re.M)) <= described


def test_what_is_compiled_ahead_is_compiled() -> None:
    assert "-m ouzel.cli.loops" in (ROOT / "Makefile").read_text()
    read_json()
    places = {
        json_scan: ("scan", "count_elements"),
        json_leaves: ("_gather", "_decimals"),
        json_times: ("_timestamps", "_dates"),
    }
    loops = [getattr(module, name) for module, names in places.items() for name in names]
    assert [loop.__name__ for loop in loops if not loop.signatures] == []


def test_the_changelog_speaks_of_this_version() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert f"## {version}" in (ROOT / "CHANGELOG.md").read_text()
