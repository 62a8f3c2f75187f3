"""What values add up to, in plain Python."""

from __future__ import annotations

from collections import Counter

from ouzel import monoid
from ouzel.compiler.types import BIGINT, VARCHAR
from ouzel.dsl.sampling import totals


def test_a_total_that_grows_is_not_copied_for_each_value() -> None:
    copied = 0

    def add(a: Counter[int], b: Counter[int]) -> Counter[int]:
        nonlocal copied
        copied += len(a) + len(b)
        return a + b

    kinds = monoid.UserDefined("kinds", Counter(), add, BIGINT, lift=lambda value: Counter([value]), finish=len)
    assert totals(kinds, [("k", number) for number in range(1000)]) == [("k", 1000)]
    assert copied < 20_000, "one by one it were half a million"


def test_values_stay_in_their_order() -> None:
    text = monoid.UserDefined("text", "", lambda a, b: a + b, VARCHAR, lift=str)
    assert totals(text, [(number % 2, number) for number in range(21)]) == [
        (0, "".join(map(str, range(0, 21, 2)))),
        (1, "".join(map(str, range(1, 21, 2)))),
    ]
