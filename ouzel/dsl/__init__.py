"""The Python DSL: streams of records, functions over them, sums by key (after Summingbird, VLDB 2014), on the logical plan that SQL has.

A program is a graph of producers (`producers.py`), which methods of `Stream` make. `plan.py` compiles it; `memory.py` says what it means.
"""

from ouzel.dsl.column_functions import column_function
from ouzel.dsl.expressions import Expr, col, fn, lit
from ouzel.dsl.options import StepOptions
from ouzel.dsl.stream import Stream
from ouzel.dsl.tables import Sink, Source, Store

__all__ = ["Expr", "Sink", "Source", "StepOptions", "Store", "Stream", "col", "column_function", "fn", "lit"]
