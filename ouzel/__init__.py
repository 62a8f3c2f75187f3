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
    )
    from ouzel.planner.metrics import counter
    from ouzel.planner.schemas import schema
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
        "BasicBolt", "Batch", "Bolt", "Collector", "Context", "RowBolt", "RowSpout", "Spout", "TopologyBuilder",
    ),
    "planner.metrics": ("counter",),
    "planner.schemas": ("schema",),
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
    **dict.fromkeys(
        ("from_pandas", "from_polars", "from_list", "from_collection", "from_iterable", "from_dict", "stream", "parallelize"),
        "write ouzel.Source.of([...]), a stream of records",
    ),
    **dict.fromkeys(("op", "operators", "ops", "transforms"), "steps are methods of a stream: ouzel.Source.of([...]).map(function)"),
    **dict.fromkeys(("monoids", "aggregates", "aggregations"), "write from ouzel import monoid, and monoid.Sum()"),
    **dict.fromkeys(("read_kafka", "kafka", "from_kafka", "kafkasource"), "write ouzel.Source.kafka('topic', Record, ...)"),
    **dict.fromkeys(
        ("baserichbolt", "irichbolt", "richbolt", "ibolt", "statefulbolt", "basestatefulbolt"),
        "write class Words(ouzel.Bolt), with execute(self, batch, collector)",
    ),
    **dict.fromkeys(("basebasicbolt", "ibasicbolt"), "write class Words(ouzel.RowBolt), whose handle is called with each row"),
    **dict.fromkeys(
        ("baserichspout", "irichspout", "richspout", "ispout", "reliablespout"),
        "write class Lines(ouzel.RowSpout), with next_row, or ouzel.Spout, with next_batch(self, collector)",
    ),
    **dict.fromkeys(("tickbolt", "tickingbolt", "batchingbolt", "ticklessbatchingbolt"), "write ouzel.Bolt with tick(self, collector)"),
    **dict.fromkeys(("tuple", "values"), "rows are columns of a frame, pl.DataFrame({'word': […]}), or of a RowBolt plain tuples"),
    **dict.fromkeys(("fields", "outputfieldsdeclarer"), "write ouzel.schema(word=str) where a component is set"),
    **dict.fromkeys(("streamid", "streams"), "write {'default': ouzel.schema(word=str), 'errors': ouzel.schema(line=str)} as outputs"),
    **dict.fromkeys(
        ("localcluster", "stormsubmitter", "heronsubmitter", "runmain", "run_main", "cli_main"),
        "write ouzel.table(builder.build(), of='name'), or ouzel.submit(builder.build(), 'name') for one that stays",
    ),
    **dict.fromkeys(("config", "conf", "sparkconf"), "write ouzel.Settings(parallelism=2), for TopologyBuilder(name, settings)"),
    **dict.fromkeys(
        ("streamsbuilder", "kafkastreams", "faust", "flow", "spark", "env", "streamtable", "graph"),
        _MAKE,
    ),
    **dict.fromkeys(("functions", "f"), "write from ouzel import fn, and fn.upper(col('name'))"),
    **dict.fromkeys(
        ("window", "tumbling", "tumblingwindow", "slidingwindow", "hoppingwindow", "tumblingwindowbolt", "slidingwindowbolt",
         "tumblingeventtimewindows", "slidingeventtimewindows", "timewindows"),
        "write stream.event_time(column, delay), and sum_by_window(monoid, size)",
    ),
    **dict.fromkeys(
        ("sessionwindow", "sessionwindows", "eventtimesessionwindows"), "write it in SQL: SELECT … FROM SESSION(…), as docs/sql.md has it"
    ),
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
