"""The pages as a site: each is in its menu, each link leads somewhere, and whoever reads it asks no other host for anything."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from doc_sources.site import DOCS, LINK, ROOT, led
from tests.house.source import ROOT as SOURCE

FOREIGN = re.compile(r"""<(?:script|link|img|iframe|source)\b[^>]*\b(?:src|href)=["']?(?:https?:)?//[^"'\s>]+""")
IMPORTED = re.compile(r"""(?:@import\s+|url\(\s*)["']?(?:https?:)?//[^"')\s]+""")


def test_each_page_is_in_the_menu() -> None:
    menu = (SOURCE / "mkdocs.yml").read_text().partition("\nnav:\n")[2]
    assert [page.name for page in sorted(DOCS.glob("*.md")) if f"- {page.name}\n" not in menu] == []


@pytest.mark.parametrize(
    ("place", "written", "shown"),
    [
        (DOCS, "[SQL](sql.md#joins)", "[SQL](sql.md#joins)"),
        (ROOT, "[SQL](docs/sql.md#joins)", "[SQL](sql.md#joins)"),
        (DOCS, "[how](../ARCHITECTURE.md)", "[how](architecture.md)"),
        (ROOT, "[all](docs/README.md)", "[all](README.md)"),
        (DOCS, "![seen](pictures/topology.webp)", "![seen](pictures/topology.webp)"),
        (DOCS, "[cases](../tests/law/queries)", "cases (`tests/law/queries`)"),
        (DOCS, "[page](https://example.org/x.md)", "[page](https://example.org/x.md)"),
    ],
)
def test_a_link_leads_to_where_its_target_is_in_the_site(place: Path, written: str, shown: str) -> None:
    assert LINK.sub(lambda link: led(link, place), written) == shown


@pytest.mark.slow
def test_the_site_is_built_without_a_warning_and_loads_nothing_from_elsewhere(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path / "site")]
    quiet = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    built = subprocess.run(command, cwd=SOURCE, env=quiet, capture_output=True, text=True, timeout=280)
    assert built.returncode == 0, built.stderr
    assert "WARNING" not in built.stdout + built.stderr
    pages = sorted((tmp_path / "site").rglob("*.html"))
    assert len(pages) >= len(list(DOCS.glob("*.md")))
    asked = {host for page in pages for host in FOREIGN.findall(page.read_text())}
    asked |= {host for sheet in (tmp_path / "site").rglob("*.css") for host in IMPORTED.findall(sheet.read_text())}
    assert asked == set()
