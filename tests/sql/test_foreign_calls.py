"""What is advised for calls as other dialects write them."""

from __future__ import annotations

import pytest

from ouzel.compiler.sql.expressions.foreign_calls import of_call, of_units


@pytest.mark.parametrize(
    ("name", "arguments", "advice"),
    [
        ("datediff", "'hour', a, b", "TIMESTAMPDIFF(HOUR, a, b)"),
        ("date_diff", "b, a, DAY", "TIMESTAMPDIFF(DAY, a, b)"),
        ("datetrunc", "month, t", "DATE_TRUNC('MONTH', t)"),
        ("dateadd", "mi, 5, t", "TIMESTAMPADD(MINUTE, 5, t)"),
        ("timestamp_sub", "t, INTERVAL 2 HOUR", "t - INTERVAL '2' HOUR"),
        ("date_part", "'epoch', t", "UNIX_SECONDS(t)"),
        ("convert", "NVARCHAR(20), x", "CAST(x AS VARCHAR(20))"),
        ("convert", "x, SIGNED", "CAST(x AS BIGINT)"),
        ("div0", "a, b", "COALESCE(CAST(a AS DOUBLE) / NULLIF(b, 0), 0)"),
        ("format_timestamp", "'%F %H:%M', t", "DATE_FORMAT(t, 'yyyy-MM-dd HH:mm')"),
        ("str_to_date", "x, '%Y-%m-%d %H:%i'", "TO_TIMESTAMP(x, 'yyyy-MM-dd HH:mm')"),
        ("str_to_date", "x, '%b %Y'", ""),  # TO_DATE reads no names of months
        ("time_bucket", "INTERVAL '5 minutes', t", "FROM TUMBLE(TABLE t, DESCRIPTOR(t), INTERVAL '5' MINUTE) with your table for t, "
         "and GROUP BY window_start, window_end"),
        ("iif", "a, b, c", "IF(a, b, c)"),
        ("strpos", "t, s", "POSITION(s IN t)"),
        ("strpos", "t", ""),
    ],
)  # fmt: skip
def test_the_same_call_here(name: str, arguments: str, advice: str) -> None:
    assert of_call(name, arguments.split(", ")) == (f"write {advice}" if advice else "")


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("date_trunc", "'hour', ts"),
        ("date_trunc", "'hour', day"),
        ("datediff", "a, b"),
        ("timestampdiff", "MINUTE, a, b"),
        ("timestamp_diff", "'minute', a, b"),
        ("date_add", "d, 3"),
    ],
)
def test_calls_of_ours_are_let_through(name: str, arguments: str) -> None:
    assert of_units(name, arguments.split(", ")) == ("", "")
