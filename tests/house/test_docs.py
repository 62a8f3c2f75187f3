"""Documentation that cannot lie: pages made from code are current, blocks of SQL compile, blocks of Python run, links lead somewhere."""

from __future__ import annotations

import ast
import difflib
import re
import shutil
import subprocess
import sys
from collections import Counter
from dataclasses import fields
from pathlib import Path

import pytest

import ouzel
from doc_sources.generate import PAGES, made
from doc_sources.glossary import GLOSSARY, linked, terms, unlinked
from ouzel import session
from ouzel.compiler.functions import all_functions
from ouzel.connectors import CONNECTORS
from ouzel.planner.settings import Settings, setting_key
from tests.house.source import ROOT, listed, package, short, tracked

PROSE = sorted({*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")})
QUERIES = ROOT / "sql_examples"
OF_USERS = {"tutorial.py"}
"""Files that a page asks its reader to write."""
TESTED_APART = {
    "cookbook.md": "tests/sql/test_cookbook.py",
    "dirty-files.md": "tests/sql/test_cookbook.py",
    "late-data.md": "tests/sql/test_cookbook.py",
    "time-zones.md": "tests/sql/test_cookbook.py",
    "iceberg.md": "tests/connectors/test_iceberg_sink.py",
    "joins.md": "tests/sql/test_documentation.py",
    "sql.md": "tests/sql/test_documentation.py",
    "windows.md": "tests/sql/test_documentation.py",
    "stores.md": "tests/stores/test_hybrid.py",
    "tutorial.md": "tests/dsl/test_tutorial.py",
}
EXAMPLES = sorted([*QUERIES.glob("*.sql"), *QUERIES.glob("nexmark/*.sql")])


def blocks(page: Path, language: str) -> list[str]:
    """The fenced blocks of one language on a page."""
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text(), re.M | re.S)


def cases(language: str) -> list[pytest.param]:
    """Every block of a language in all pages but those that have a test of their own."""
    pages = [page for page in PROSE if page.name not in TESTED_APART]
    return [
        pytest.param(text, id=f"{page.name}-{n}") for page in pages for n, text in enumerate(blocks(page, language))
    ]


@pytest.mark.parametrize("name", sorted(PAGES))
def test_a_page_made_from_code_is_current(name: str) -> None:
    written = (ROOT / "docs" / name).read_text()
    now = made(name)
    changes = "\n".join(difflib.unified_diff(written.splitlines(), now.splitlines(), "written", "made", lineterm=""))
    assert written == now, f"run `make docs`:\n{changes}"


@pytest.mark.parametrize("page", sorted((ROOT / "docs").glob("*.md")), ids=lambda page: page.name)
def test_the_first_use_of_each_term_is_linked_to_the_glossary(page: Path) -> None:
    text = page.read_text()
    if page == GLOSSARY:
        assert len(terms()) > 50
        return
    missing = [line for line in difflib.ndiff(text.splitlines(), linked(text).splitlines()) if line.startswith("+ ")]
    assert missing == [], "run `make docs`"
    assert set(re.findall(r"\(glossary\.md#([\w-]+)\)", text)) <= set(terms().values())


def test_a_term_is_linked_where_it_is_first_used_in_a_sentence() -> None:
    text = "# Late\n\n`late` and [late rows](x.md)\n\n| late | rows that come late, here |\n\nIt is late.\n"
    once = text.replace("come late", "come [late](glossary.md#late)")
    assert linked(text) == linked(once) == once
    assert unlinked(once) == text


def test_every_setting_is_explained() -> None:
    page = (ROOT / "docs/settings.md").read_text()
    for field in fields(Settings):
        assert f"| `{setting_key(field.name)}` |" in page


def test_every_connector_option_and_function_is_explained() -> None:
    page = (ROOT / "docs/connectors.md").read_text()
    for name, connector in CONNECTORS.items():
        assert f"### {name}\n" in page
        assert len(connector.doc) > 40
        for option in connector.options:
            assert f"| `{option.name}` |" in page
            assert len(option.doc) > 10, f"{name}: {option.name}"
    for function in all_functions():
        assert function.doc.endswith("."), f"{function.name}: a sentence"
        assert function.usage


@pytest.mark.parametrize("text", cases("sql"))
def test_sql_in_the_docs_compiles(text: str) -> None:
    job = session.load_text(text, ROOT / "sql_examples", "documented")
    assert job.topology.components


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_compiles_and_says_how_to_run_it(path: Path) -> None:
    assert session.load(path).topology.components
    assert f"ouzel run {path.relative_to(ROOT)}" in path.read_text()


def lines_of_text(directory: Path, lines: int) -> Path:
    """A directory in which the README's paths lead to a few lines of the real text."""
    data = directory / "sql_examples" / "data"
    data.mkdir(parents=True)
    with (ROOT / "sql_examples/data/announcements.txt").open() as text:
        (data / "announcements.txt").write_text("".join(next(text) for _ in range(lines)))
    shutil.copy(ROOT / "sql_examples/word_count.sql", directory / "sql_examples")
    return directory


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the README's programs run."""
    directory = lines_of_text(tmp_path_factory.mktemp("readme"), 3_000)
    (directory / "sql_examples/shop").symlink_to(ROOT / "sql_examples/shop")
    return directory


def said_by(text: str, place: Path) -> str:
    """What a program prints."""
    done = subprocess.run([sys.executable, "-c", text], cwd=place, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def exact(place: Path) -> list[tuple[str, int]]:
    """The three most frequent words; their counts are different."""
    words = (place / "sql_examples/data/announcements.txt").read_text().split()
    return Counter(words).most_common()


def test_the_readme_counts_words_in_plain_python(place: Path) -> None:
    plain, _, _ = blocks(ROOT / "README.md", "python")
    assert said_by(plain, place) == str(exact(place)[:3])


def test_the_readme_counts_words_in_sql(place: Path) -> None:
    (text,) = blocks(ROOT / "README.md", "sql")
    table = ouzel.table(ouzel.query(text, place / "sql_examples"), engine="memory")
    assert sorted(table.rows()) == sorted(exact(place))


@pytest.mark.server
def test_the_readme_counts_words_in_a_topology(place: Path) -> None:
    _, _, topology = blocks(ROOT / "README.md", "python")
    most_frequent(ast.literal_eval(said_by(topology, place)), place)


def most_frequent(found: list[tuple[str, int]], place: Path) -> None:
    """These are three words of the text that no other is more frequent than."""
    assert [count for _, count in found] == [count for _, count in exact(place)[:3]]
    assert set(found) <= set(exact(place))


@pytest.mark.server
def test_python_in_the_docs_runs(place: Path) -> None:
    words, tested, numbers = blocks(ROOT / "docs/python.md", "python")
    most_frequent(ast.literal_eval(said_by(words, place)), place)
    assert said_by(f"{tested}\ntest_orders_of_a_day_are_counted()\nprint('counted')\n", place) == "counted"
    assert said_by(numbers, place) == "{'n': 30, 'square': 900} STOPPED"


@pytest.mark.server
def test_topologies_in_the_docs_run(place: Path) -> None:
    by_hand, with_state, of_sql = blocks(ROOT / "docs/topologies.md", "python")
    sums = Counter(sum(map(int, str(n))) for n in range(1_000_000))
    assert said_by(by_hand, place) == str(sums.most_common(1))
    assert said_by(with_state, place) == str(sum(range(1_000_000)))
    assert said_by(of_sql, place) == "RunState.STOPPED"


@pytest.mark.parametrize("page", PROSE, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text()):
        assert target.startswith("http") or (page.parent / target).exists(), f"{page.name}: {target}"


def test_the_map_is_true_to_the_tree() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text()
    for name in re.findall(
        r"`((?:ouzel|tests|bench|sql_examples|connectors|runtime|protocol|process|wire|tasks|compiler)/[\w./]*)`", text
    ):
        assert (ROOT / name).exists() or (ROOT / "ouzel" / name).exists() or (ROOT / "ouzel/runtime" / name).exists(), (
            name
        )
    for folder in {path.parent for path in package()} - {ROOT / "ouzel"}:
        parts = folder.relative_to(ROOT).parts
        shown = ["/".join(parts[: n + 1]) + "/" for n in range(1, len(parts))]
        assert any(f"`{part}" in text for part in shown), f"the map does not show {'/'.join(parts)}"


def test_files_that_are_named_exist() -> None:
    known = {"/".join(path.relative_to(ROOT).parts[-n:]) for path in tracked() for n in range(1, 9)}
    named = re.compile(r"[`(]([a-z_][\w/]*\.py)[`):]")
    pages = [page for page in PROSE if page.name != "CHANGELOG.md"]
    missing = [
        f"{short(path)}: {name}"
        for path in [*pages, *package()]
        for name in named.findall(path.read_text())
        if name not in known and name not in OF_USERS
    ]
    assert not missing, listed(missing)
