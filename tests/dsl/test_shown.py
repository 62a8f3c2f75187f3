"""What Python's prompt and a notebook show of a program's parts."""

import ouzel
from ouzel import Source


def test_a_plan_is_shown_as_lines() -> None:
    text = Source.of([1, 2]).map(lambda n: n + 1).explain()
    assert repr(text) == str(text)
    assert "\n" in repr(text)


def test_a_run_says_how_it_stands() -> None:
    stream = Source.of([1, 2])
    with ouzel.start(stream.job(), engine="memory") as run:
        rows = list(run)
        assert len(rows) == 2
        assert repr(run) == "<run: finished, 2 rows in, 2 acked>"
        assert run._repr_html_() == "<pre>run: finished, 2 rows in, 2 acked</pre>"
