"""What to write instead, where a spout or bolt fails because it was written as for Storm, streamparse or pandas."""

from __future__ import annotations

import re
from collections.abc import Iterator

import polars as pl

from ouzel.compiler.user_code import advise_of_operands, calls_of
from ouzel.planner.api import BasicBolt, Batch, Bolt, RowBolt, RowSpout, Spout
from ouzel.planner.elsewhere import FRAME, NEVER_CALLED, TUPLE, meant_by

_MACHINE = re.compile(r"'User(?:Bolt|Spout)'|\bUser(?:Bolt|Spout)(?=\.\w+\(\))")
"""What a task calls itself, in messages of Python; its user knows it as the collector."""

_EMITS: tuple[tuple[type, str], ...] = (
    (RowSpout, "return the row from next_row"), (Spout, "write collector.emit(frame, message_id=1)"),
    (RowBolt, "return the rows from handle: return [(value,)]"), (BasicBolt, "return the frames from process: return [frame]"),
    (Bolt, "write collector.emit(frame, anchors=(batch,))"),
)  # fmt: skip
"""How rows leave a spout or bolt, by its nearest base."""


def in_their_words(told: str) -> str:
    """An error's text that speaks of the collector, and not of the class behind it."""
    return _MACHINE.sub(lambda found: "'Collector'" if found[0].startswith("'") else "collector", told)


def advise_of_mistake(error: BaseException) -> str:
    """What to write instead of what raised this; empty where nothing is known."""
    if isinstance(error, AttributeError) and isinstance(error.name, str) and error.obj is not None:
        return _advise_of_attribute(error.obj, error.name)
    if isinstance(error, TypeError) and re.match(r"User\w+\.emit\(\)", str(error)):
        return "write collector.emit(frame, anchors=(batch,)): a frame, and all else by its name"
    if isinstance(error, TypeError) and (bare := re.match(r"User\w+\.(ack|fail)\(\) missing", str(error))):
        return f"write collector.{bare[1]}(batch)"
    if isinstance(error, TypeError) and "not subscriptable" in str(error) and calls_of(error)[-1].name == "handle":
        return "handle is called with the columns of a row, one by one: def handle(self, word, n)"
    return advise_of_operands(error)


def check_execute(given: object) -> None:
    """See that a bolt's `execute` has returned no rows: nobody reads them.

    Raises:
        TypeError: it has.
    """
    if isinstance(given, pl.DataFrame | pl.Series | pl.LazyFrame | list | tuple | dict | Iterator):
        raise TypeError(
            f"execute returned a {type(given).__name__}, which nobody reads; write collector.emit(frame, anchors=(batch,)) for each "
            "frame, and then collector.ack(batch), or derive the bolt from ouzel.BasicBolt, whose process returns a list of frames"
        )


def check_batch(given: object, verb: str) -> None:
    """See that what is acked or failed is a batch.

    Raises:
        TypeError: it is none.
    """
    if not isinstance(given, Batch):
        raise TypeError(
            f"collector.{verb} takes the batch that execute was given, not a {type(given).__name__}; write collector.{verb}(batch)"
        )


def check_anchors(given: object) -> None:
    """See that anchors are batches.

    Raises:
        TypeError: they are not.
    """
    if isinstance(given, Batch):
        raise TypeError("anchors are several batches; write anchors=(batch,)")
    parts = given if isinstance(given, list | tuple | set | frozenset) else [given]
    wrong = next((one for one in parts if not isinstance(one, Batch)), None)
    if wrong is not None:
        raise TypeError(
            f"anchors are the batches that execute was given, not a {type(wrong).__name__}; write anchors=(batch,)"
        )


def _advise_of_attribute(owner: object, name: str) -> str:
    if isinstance(owner, Batch):
        return _advise_of_batch(name)
    if isinstance(owner, pl.DataFrame | pl.Series | pl.Expr):
        return _advise_of_frame(owner, name)
    if isinstance(owner, Spout | Bolt):
        return _advise_of_own(owner, name)
    if type(owner).__module__ == f"{__package__}.user":
        return "a collector has emit, ack, fail, progress and monotonic_ms"
    return ""


def _advise_of_frame(owner: pl.DataFrame | pl.Series | pl.Expr, name: str) -> str:
    """A column is no attribute."""
    if isinstance(owner, pl.DataFrame) and name in owner.columns:
        return f"write frame[{name!r}]"
    return meant_by(name, FRAME, dir(type(owner)))


def _advise_of_batch(name: str) -> str:
    """A batch is no frame, and no tuple."""
    if name in dir(pl.DataFrame):
        return f"write batch.frame.{name}: a batch holds its rows as a Polars frame"
    known = meant_by(name, TUPLE, ())
    if known:
        return known
    of_frame = meant_by(name, FRAME, ())
    return f"{of_frame} of batch.frame, the Polars frame of its rows" if of_frame else ""


def _advise_of_own(user: Spout | Bolt, name: str) -> str:
    """A collector is given, and no base of one's own; and what other libraries call when a task begins is not called here."""
    if name == "emit":
        return next(advice for base, advice in _EMITS if isinstance(user, base))
    if name in ("ack", "fail"):
        basic = "leave it out: what process or handle has returned is acked" if isinstance(user, BasicBolt) else ""
        return basic or f"write collector.{name}(batch)"
    if name in ("collector", "_collector", "output_collector"):
        return "it is given: def execute(self, batch, collector), and collector.emit(…) there"
    if name in ("log", "logger"):
        return "write logging.getLogger(__name__)"
    never = next((one for one in NEVER_CALLED if callable(vars(type(user)).get(one))), "")
    return f"nothing calls {never} here: write def {NEVER_CALLED[never]} in {type(user).__name__}" if never else ""
