"""What `help(Source)`, `help(Sink)` and `help(Store)` say of each connector, made from the table of connectors."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ouzel.connectors import CONNECTORS
from ouzel.connectors.base import Option
from ouzel.connectors.formats import FORMATS
from ouzel.connectors.options import COMMON, own_options


def describe_connectors(of: str, shape: str, names: Iterable[str]) -> str:
    """Each of these connectors with its options, as they are spelled in Python; `shape` is how one is called."""
    parts = []
    for name in names:
        row = CONNECTORS[name]
        subject = f"{row.subject or 'name'}"
        parts.append(f"{of}.{name}({subject}{shape})\n    {row.doc}\n{_list_options(own_options(row), row.subject)}")
    reads = f"Each that reads also takes:\n{_list_options(COMMON)}" if of == "Source" else ""
    formats = "".join(
        f"format='{name}' also takes:\n{_list_options(row.options)}" for name, row in FORMATS.items() if row.options
    )
    return "\n".join(filter(None, (*parts, reads, formats)))


def spell_option(name: str) -> str:
    """An option's name as an argument: 'bad.record' is bad_record."""
    return re.sub(r"[.-]", "_", name)


def _list_options(options: Iterable[Option], subject: str = "") -> str:
    shown = (option for option in options if option.name != subject)
    return "".join(f"    {spell_option(option.name)}: {option.doc}\n" for option in shown)
