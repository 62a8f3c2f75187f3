"""Whether the records of two streams are those of one."""

from __future__ import annotations

from collections.abc import Sequence

from ouzel.compiler.records import Form, RecordType
from ouzel.errors import QueryError


def check_mergeable(record: RecordType, other: RecordType) -> None:
    """See that records of `other` are records of the first stream as well.

    An engine takes columns by their place, and a function of the user's fields by their name, so both must be the same.

    Raises:
        QueryError: their types are others, or their fields have other names or another order.
    """
    names, others = record.schema.names, other.schema.names
    is_named = record.form is Form.CLASS and other.form is Form.CLASS and names != others
    if is_named and sorted(names) == sorted(others):
        both = f"{record}({', '.join(names)}) cannot be merged with one of {other}({', '.join(others)})"
        raise QueryError(f"a stream of {both}: the order of their fields is another", instead=_advise(record, names))
    if [one.type for one in record.columns] != [one.type for one in other.columns]:
        raise QueryError(
            f"a stream of {record} cannot be merged with one of {other}",
            instead="map both to the same type, or use either()",
        )
    if is_named:
        mine, its = next(pair for pair in zip(names, others, strict=True) if pair[0] != pair[1])
        raise QueryError(
            f"a stream of {record} cannot be merged with one of {other}: where {record} has {mine} it has {its}",
            instead=_advise(record, others),
        )


def _advise(record: RecordType, read: Sequence[str]) -> str:
    return f"write other.map(lambda record: {record}({', '.join(f'record.{name}' for name in read)}))"
