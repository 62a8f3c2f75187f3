"""What is found out about a record of CSV, and the bytes that end one."""

from __future__ import annotations

LF, CR = 10, 13

PLAIN, QUOTE_IN_BARE, AFTER_QUOTE, UNCLOSED, LINE_END = range(5)
"""What readers of CSV disagree on in a record; the last three are faults."""

FIELDS, KIND, FIELD, AT = 0, 1, 2, 3
"""Places in a record's facts: how many fields, one of the above, in which field, and where that field starts."""
