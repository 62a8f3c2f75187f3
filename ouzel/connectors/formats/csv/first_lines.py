"""What the first line of a file of CSV shows that was written for another reader: `sep=;` for Excel, blanks behind the commas."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence

from ouzel.connectors.misfits import name_beside

_EXCEL = re.compile(r"\s*\"?sep=(.)\"?,*\s*", re.IGNORECASE)


def describe_excel(record: bytes, path: str, delimiter: str = "") -> str:
    """What to say of a first line `sep=;`; empty for every other. With the option to write where it says another than the `delimiter`."""
    found = _EXCEL.fullmatch(record.decode(errors="replace"))
    if found is None:
        return ""
    sign = found[1].replace("\t", "\\t")
    option = f", and write 'csv.delimiter' = '{sign}'" if delimiter not in ("", found[1]) else ""
    return (
        f"the first line of {path}, sep={sign}, is for Excel and names no columns; take it out, as by "
        f"`tail -n +2 {shlex.quote(path)} > {name_beside(path, 'lines')}`{option}"
    )


def describe_blanks(column: str, found: Sequence[str], path: str, delimiter: str) -> str:
    """What to write where the header has the column with blanks around it; empty where it does not."""
    spelt = next((field for field in found if field.strip().lower() == column.lower()), "")
    if not spelt.strip() or spelt.strip() == spelt:
        return ""
    quoted = '"' + spelt.replace('"', '""') + '"'
    around = f" *{delimiter} *" if any(field.rstrip() != field for field in found) else f"{delimiter} *"
    command = shlex.quote(f"s/{around}/{delimiter}/g")
    blanks = "begins with a blank" if spelt.rstrip() == spelt else "has blanks around it"
    return (
        f"{spelt!r} {blanks} there, and so, likely, does each value: take the blanks out, as by "
        f"`sed {command} {shlex.quote(path)} > {name_beside(path, 'trimmed')}`, or declare {quoted} VARCHAR and write TRIM({quoted})"
    )
