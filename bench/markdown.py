"""Figures as a Markdown table, ready for a page of docs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence


def markdown(rows: Sequence[Mapping[str, object]], headings: Mapping[str, str]) -> str:
    """The table of these rows: `headings` says which keys are columns, in which order, and what stands above each."""
    lines = [
        [*headings.values()],
        ["---"] * len(headings),
        *([_shown(row.get(key)) for key in headings] for row in rows),
    ]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _shown(value: object) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case float():
            return f"{value:.2f}"
        case int():
            return f"{value:,}"
    return str(value)
