"""The rows of SHOW CONNECTORS and SHOW SETTINGS, which the compiler cannot know.

It stands at the root because no part below may have it: it joins compiler, planner and connectors, none of which imports another's rows.
"""

from __future__ import annotations

from collections.abc import Iterator

from ouzel.compiler.plan import Listing
from ouzel.compiler.sql.statements.showing import matching_rows
from ouzel.planner.settings import Settings, setting_docs, shown_setting


def fill_listing(listing: Listing, settings: Settings) -> Listing:
    """The listing with its rows."""
    match listing.what:
        case "CONNECTORS":
            filled = Listing(("connector", "reads", "writes", "meaning"), tuple(_connectors()))
        case "SETTINGS":
            filled = Listing(("key", "value", "default", "meaning"), tuple(_settings(settings)))
        case _:
            return listing
    return matching_rows(filled, listing.pattern)


def _connectors() -> Iterator[tuple[object, ...]]:
    from ouzel.connectors import CONNECTORS

    for name, row in CONNECTORS.items():
        yield (
            name,
            row.reads is not None,
            ", ".join(row.writes.modes) if row.writes else None,
            row.doc.partition(". ")[0].rstrip("."),
        )


def _settings(settings: Settings) -> Iterator[tuple[object, ...]]:
    for key, field, meaning in setting_docs():
        yield key, shown_setting(settings, field), shown_setting(Settings(), field), meaning
