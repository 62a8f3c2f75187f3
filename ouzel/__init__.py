"""Ouzel: one question, in SQL or Python, as a topology that runs for ever.

Everything public is a name of this package: the nouns of the topology API, the entry points `query`, `start`, `run` and `table`, settings,
errors. Names are imported when they are first used, so that `import ouzel` costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ouzel.compiler.functions.python import function
    from ouzel.dsl import Expr, Sink, Source, StepOptions, Store, Stream, col, column_function, fn, lit
    from ouzel.entry import attach, query, run, start, submit, table, update
    from ouzel.errors import (
        BadRecord,
        ConnectorError,
        NotSupported,
        OuzelError,
        PlanError,
        QueryError,
        SubmissionError,
        TopologyError,
    )
    from ouzel.planner.api import (
        BasicBolt,
        Batch,
        Bolt,
        Collector,
        Context,
        RowBolt,
        RowSpout,
        Spout,
        TopologyBuilder,
        schema,
    )
    from ouzel.planner.metrics import counter
    from ouzel.planner.settings import BadRecordPolicy, Delivery, Settings
    from ouzel.planner.topology import Grouping, GroupingKind, Resources, Topology
    from ouzel.runtime.run import Handle, RunState, Status
    from ouzel.session import Job

__all__ = [
    "BadRecord",
    "BadRecordPolicy",
    "BasicBolt",
    "Batch",
    "Bolt",
    "Collector",
    "ConnectorError",
    "Context",
    "Delivery",
    "Expr",
    "Grouping",
    "GroupingKind",
    "Handle",
    "Job",
    "NotSupported",
    "OuzelError",
    "PlanError",
    "QueryError",
    "Resources",
    "RowBolt",
    "RowSpout",
    "RunState",
    "Settings",
    "Sink",
    "Source",
    "Spout",
    "Status",
    "StepOptions",
    "Store",
    "Stream",
    "SubmissionError",
    "Topology",
    "TopologyBuilder",
    "TopologyError",
    "attach",
    "col",
    "column_function",
    "counter",
    "fn",
    "function",
    "lit",
    "query",
    "run",
    "schema",
    "start",
    "submit",
    "table",
    "update",
]

_HOMES = {
    "compiler.functions.python": ("function",),
    "dsl": ("Expr", "Sink", "Source", "StepOptions", "Store", "Stream", "col", "column_function", "fn", "lit"),
    "entry": ("attach", "query", "run", "start", "submit", "table", "update"),
    "errors": (
        "BadRecord", "ConnectorError", "NotSupported", "OuzelError", "PlanError", "QueryError", "SubmissionError", "TopologyError",
    ),
    "planner.api": (
        "BasicBolt", "Batch", "Bolt", "Collector", "Context", "RowBolt", "RowSpout", "Spout", "TopologyBuilder", "schema",
    ),
    "planner.metrics": ("counter",),
    "planner.settings": ("BadRecordPolicy", "Delivery", "Settings"),
    "planner.topology": ("Grouping", "GroupingKind", "Resources", "Topology"),
    "runtime.run": ("Handle", "RunState", "Status"),
    "session": ("Job",),
}  # fmt: skip

_READ = "write ouzel.Source.file('path', format='csv'), or SQL: ouzel.table(\"SELECT * FROM 'orders.csv'\")"
_ASK = "write ouzel.table(query) for its answer, or ouzel.start(query) for its changes"
_MAKE = "write ouzel.Source.file('path', format='csv') or another connector; there is no session to make"
_ELSEWHERE = {
    **dict.fromkeys(("sql", "execute", "execute_sql", "sql_query", "execute_query", "read_sql", "collect", "show"), _ASK),
    **dict.fromkeys(("read_csv", "read_json", "read_parquet", "scan_csv", "scan_parquet", "read_text", "from_csv"), _READ),
    **dict.fromkeys(
        ("connect", "session", "context", "app", "dataflow", "pipeline", "sparksession", "streamexecutionenvironment", "table_env",
         "streamtableenvironment", "streamingcontext", "environment", "topology_builder"),
        _MAKE,
    ),
    **dict.fromkeys(("sum", "count", "max", "min", "mean", "avg"), "write ouzel.monoid.Sum(), and its like"),
    **dict.fromkeys(("udf", "register", "create_function", "register_function"), "write @ouzel.function((str,), str) above a function"),
    **dict.fromkeys(("dataframe", "datastream", "kstream", "pcollection"), "write ouzel.Source.of([...]), a stream of records"),
    **dict.fromkeys(("read_kafka", "kafka", "from_kafka", "kafkasource"), "write ouzel.Source.kafka('topic', Record, ...)"),
}  # fmt: skip
"""What modules of other libraries have, in lower case, and what to write here."""

_HOME_OF = {name: f"ouzel.{home}" for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> object:
    if name not in _HOME_OF:
        advice = f"; {_ELSEWHERE[name.lower()]}" if name.lower() in _ELSEWHERE else ""
        raise AttributeError(f"module 'ouzel' has no attribute '{name}'{advice}")
    value = getattr(import_module(_HOME_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
