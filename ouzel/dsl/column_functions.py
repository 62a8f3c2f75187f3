"""Functions of the user's that compute whole columns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ouzel.compiler.records import Hint


@dataclass(frozen=True)
class ColumnFunction:
    """A function of Polars series, one a column of the record, which gives the columns of the new records, as many values each.

    For flat_map each value is a list, for filter a boolean.
    """

    function: Callable[..., Any]
    returns: Hint

    @property
    def __name__(self) -> str:
        return str(getattr(self.function, "__name__", "columns"))

    def __call__(self, *series: Any) -> Any:
        """The function itself."""
        return self.function(*series)


def column_function(returns: Hint) -> Callable[[Callable[..., Any]], Any]:
    """Mark a function as one of columns; a decorator.

    The function takes Polars series, one a column of the record (of `map_values` that of the value), and gives a series of as many
    values, or a tuple of such for a record of several columns. For `flat_map` each value is a list; for `filter` it is a boolean.

    Args:
        returns: the type of the records that it makes, as `tuple[str, int]`; of a filter bool.
    """
    return lambda function: ColumnFunction(function, returns)
