"""Texts that are JSON in Spark's eyes, or nearly: what JSON_VALUE and JSON_EXISTS find in them is what Spark finds."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from ouzel.compiler.expressions import Column, Literal
from ouzel.compiler.functions.json_path import exists, look_up, path_steps
from ouzel.compiler.functions.resolution import resolve_call
from ouzel.compiler.functions.spark import to_spark
from ouzel.compiler.types import VARCHAR

TEXTS = [
    '{"a": 1}', '{"a": null, "b": [null]}', '{"a": 1, "a": 2} x', '{"a": null, "a": {"b": "second"}}', '{"a": {}, "a": {"b": 2}}',
    '{\'a\': "it\'s", "b": [\'"\']}', "{'a': 'it\\'s'}", "null", "true,", "truex", "12", "12 x", "12-31", '{"a": [1, null, 1e400]}',
    '{"a": "tab\t"}', '{"a": ' + "[" * 1100 + "]" * 1100 + "}", '{"a": NaN}', '{"a": 01}', "[1, {}]", '"a"', "", " ", "no json", '{"a": 1',
    '{"A": 1}', '{"a": {"b": null}}', '\ufeff{"a": 1}', '{"a": -0.0, "b": [1.10, 100000000000000000000]}',
]  # fmt: skip
PATHS = ["$", "$.a", "$.a.b", "$.a[1]", "$.a[2]", "$.b[0]", "$['a']['b']", "$[1]"]


@pytest.mark.parametrize(
    ("text", "path", "value", "is_there"),
    [
        ('{"a": null}', "$.a", None, True),
        ('{"a": 1, "a": 2}', "$.a", "1", True),
        ('{"a": {}, "a": {"b": 2}}', "$.a.b", "2", True),
        ("{'a': \"it's\"} and more", "$.a", "it's", True),
        ('{"a": [1, null]}', "$.a[1]", "null", True),
        ("[" * 5000, "$", None, False),
    ],
)
def test_what_is_found(text: str, path: str, value: str | None, is_there: bool) -> None:
    assert look_up(text, path_steps(path)) == value
    assert exists(text, path_steps(path)) is is_there


@pytest.mark.spark
@pytest.mark.parametrize("name", ["json_value", "json_exists"])
def test_texts_are_read_as_spark_reads_them(spark: Any, name: str) -> None:
    from pyspark.sql import functions as F
    from pyspark.sql import types as T

    calls = [resolve_call(name, [Column(VARCHAR, "text"), Literal(VARCHAR, path)]) for path in PATHS]
    frame = spark.createDataFrame([(n, text) for n, text in enumerate(TEXTS)], "n int, text string").coalesce(1)
    columns = [eval(to_spark(call), {"F": F, "T": T}).alias(path) for call, path in zip(calls, PATHS, strict=True)]
    answer = pl.DataFrame(pl.from_arrow(frame.select("n", *columns).toArrow())).sort("n")
    find = look_up if name == "json_value" else exists
    for path in PATHS:
        here = [find(text, path_steps(path)) for text in TEXTS]
        spark_has = answer[path].to_list()
        assert dict(zip(TEXTS, here, strict=True)) == dict(zip(TEXTS, spark_has, strict=True)), path
