"""RECONCILE: what it says reaches the program."""

from __future__ import annotations

import pytest

from ouzel.compiler.plan import Reconcile
from tests.sql.connectors import compiled

DAY_US = 86_400_000_000
Y2013 = 15_706 * DAY_US


@pytest.mark.parametrize(
    ("written", "wanted"),
    [
        ("RECONCILE result", Reconcile("result")),
        ("reconcile RESULT", Reconcile("result")),
        ("RECONCILE Words", Reconcile("result")),  # the query's own name, SET below
        ("RECONCILE lines", Reconcile("lines")),
        ("RECONCILE lines BETWEEN '2013-01-01' AND '2013-01-02'", Reconcile("lines", Y2013, Y2013 + DAY_US)),
        ("RECONCILE lines BETWEEN TIMESTAMP '2013-01-01 00:00:00' AND DATE '2013-01-02'", Reconcile("lines", Y2013, Y2013 + DAY_US)),
        ("RECONCILE lines BETWEEN '2013-01-01T01:00:00+01:00' AND '2013-01-02T00:00Z'", Reconcile("lines", Y2013, Y2013 + DAY_US)),
        (
            "RECONCILE lines WITH ('tolerance' = '1e-3', 'report' = 'out', 'closed-windows' = 'true', 'master' = 'spark://h:7077')",
            Reconcile("lines", None, None, True, 1e-3, "out", "spark://h:7077"),
        ),
    ],
)  # fmt: skip
def test_a_statement_says_what_to_compare(written: str, wanted: Reconcile) -> None:
    program = compiled(
        f"SET 'query.name' = 'words'; INSERT INTO lines SELECT word, n FROM words; SELECT id, ts FROM flights; {written};"
    )
    assert program.reconciles == (wanted,)


def test_several_stand_in_order() -> None:
    program = compiled(
        "INSERT INTO lines SELECT word, n FROM words; SELECT word FROM words; RECONCILE result; RECONCILE lines;"
    )
    assert [each.table for each in program.reconciles] == ["result", "lines"]


def test_its_words_stay_names() -> None:
    """RECONCILE and BETWEEN are words of one statement; a table or a column may have that name still."""
    view = "CREATE VIEW reconcile AS SELECT id AS reconcile FROM flights;"
    program = compiled(f"{view} SELECT reconcile FROM reconcile WHERE reconcile BETWEEN 1 AND 2;")
    assert program.sinks[0].columns.names == ("reconcile",)
    made = compiled("CREATE TABLE t (a INT, b AS a BETWEEN 1 AND 2) WITH ('connector' = 'datagen'); SELECT b FROM t;")
    assert made.sinks[0].columns.names == ("b",)
