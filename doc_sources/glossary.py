"""The words of docs/glossary.md, each linked where a page first uses it. `make docs` writes the links; a test sees that they are there."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

GLOSSARY = Path(__file__).parents[1] / "docs/glossary.md"

ENTRY = re.compile(r'^\| <a id="([\w-]+)"></a>([^|]+?) \|', re.M)

CODE = r"^ *```(?:.|\n)*?^ *```\n|^(?:    |<!--|#).*\n|`[^`\n]+`|\[[^][]*\]\([^)]*\)|<[^>\n]+>"
"""What no link is put into: code, links, headings, comments and HTML."""

CELL_WORDS = 4
"""A cell of a table with fewer words is a name and not a sentence."""


@cache
def terms() -> dict[str, str]:
    """Of each word that is linked, by how it is written, its anchor."""
    entries = ENTRY.findall(GLOSSARY.read_text(encoding="utf-8"))
    return {form.strip().lower(): anchor for anchor, forms in entries for form in forms.split(",")}


@cache
def scanner() -> re.Pattern[str]:
    """Finds what is passed over, and terms, of two that begin alike the longer one."""
    words = "|".join(re.escape(term) for term in sorted(terms(), key=len, reverse=True))
    return re.compile(rf"{CODE}|(?<![\w-])(?P<term>{words})(?:s|es)?(?![\w-]|[.:]\w)", re.M | re.I)


def linked(text: str) -> str:
    """A page of docs/ with a link at the first use of each term in a sentence, and at no other."""
    text, seen = unlinked(text), set[str]()

    def link(found: re.Match[str]) -> str:
        anchor = terms()[found["term"].lower()] if found["term"] else ""
        if not anchor or anchor in seen or not is_sentence(text, found.start()):
            return found[0]
        seen.add(anchor)
        return f"[{found[0]}](glossary.md#{anchor})"

    return scanner().sub(link, text)


def is_sentence(text: str, place: int) -> bool:
    """Whether the place is outside a table, or in a cell that holds more than a name."""
    line_start, line_end = text.rfind("\n", 0, place) + 1, text.find("\n", place)
    line = text[line_start : line_end if line_end >= 0 else len(text)]
    if not line.startswith("|"):
        return True
    cells = line[: place - line_start].count("|"), line.split("|")
    return len(cells[1][cells[0]].split()) >= CELL_WORDS


def unlinked(text: str) -> str:
    """A page without its links into the glossary, as it was written."""
    return re.sub(r"\[([^][]*)\]\(glossary\.md#[\w-]+\)", r"\1", text)
