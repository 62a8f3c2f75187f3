"""What mkdocs is told about pages that lie outside docs/, and about links that lead there; see mkdocs.yml."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"

ROOT_PAGES = {
    "README.md": "about.md",
    "ARCHITECTURE.md": "architecture.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
}
"""Pages at the root of the repository, and their names in the site."""

LINK = re.compile(r"\[([^][]+)\]\(([^)#\s]+)(#[^)\s]*)?\)")


def on_files(files: Any, config: Any) -> Any:
    """Add the pages of the root."""
    from mkdocs.structure.files import File

    for name, page in ROOT_PAGES.items():
        files.append(File.generated(config, page, content=(ROOT / name).read_text(encoding="utf-8")))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Lead links to where their targets are in the site; what the site has not is named as a path."""
    own = {shown: name for name, shown in ROOT_PAGES.items()}
    place = ROOT if page.file.src_uri in own else DOCS
    return LINK.sub(lambda link: led(link, place), markdown)


def led(link: re.Match[str], place: Path) -> str:
    """One link of a page that lies in `place`, as the site has it."""
    text, target, anchor = link.group(1), link.group(2), link.group(3) or ""
    if "://" in target:
        return link.group()
    path = Path(os.path.normpath(place / target))
    if path.is_relative_to(DOCS):
        return f"[{text}]({path.relative_to(DOCS).as_posix()}{anchor})"
    name = path.relative_to(ROOT).as_posix()
    return f"[{text}]({ROOT_PAGES[name]}{anchor})" if name in ROOT_PAGES else f"{text} (`{name}`)"
