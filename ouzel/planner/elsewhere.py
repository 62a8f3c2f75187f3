"""What Storm, streamparse, pandas and PySpark call things of a topology by hand, and what to write here."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches

_RUN = "ouzel.start(builder.build()), ouzel.submit(builder.build()), or ouzel.table(builder.build(), of='name') for its rows"

BUILDER = {
    **dict.fromkeys(("create_topology", "topology", "compile", "finish"), "build()"),
    **dict.fromkeys(("add_spout", "spout", "source", "add_source"), "set_spout(name, spout, ouzel.schema(word=str))"),
    **dict.fromkeys(("add_bolt", "bolt", "add_node", "add"), "set_bolt(name, bolt, ouzel.schema(word=str)).shuffle_grouping('name')"),
    **dict.fromkeys(("run", "start", "submit", "submit_topology", "table", "execute", "run_local"), _RUN),
    **dict.fromkeys(("set_config", "config", "set_num_workers", "set_debug", "set"), "TopologyBuilder(name, ouzel.Settings(…))"),
    **dict.fromkeys(
        ("shuffle_grouping", "fields_grouping", "all_grouping", "global_grouping", "connect", "stream"),
        "set_bolt(…).shuffle_grouping('name'): the groupings are of a bolt",
    ),
}  # fmt: skip
"""Methods of builders elsewhere."""

DECLARER = {
    **dict.fromkeys(("shuffle", "rebalance", "round_robin"), "shuffle_grouping('name')"),
    **dict.fromkeys(("fields", "group_by", "key_by", "partition_by"), "fields_grouping('name', 'column')"),
    **dict.fromkeys(("all", "broadcast"), "all_grouping('name')"),
    **dict.fromkeys(("set_num_tasks", "set_parallelism", "parallelism_hint"), "set_bolt(name, bolt, outputs, parallelism=2)"),
    **dict.fromkeys(("set_memory_load", "set_cpu_load"), "set_bolt(…, resources=ouzel.Resources(…))"),
    **dict.fromkeys(("add_configuration", "add_configurations"), "TopologyBuilder(name, ouzel.Settings(…))"),
    **dict.fromkeys(("set_bolt", "set_spout", "build"), "builder.{}(…) on a line of its own: set_bolt gives the bolt alone"),
}  # fmt: skip
"""What other bolts' declarers have."""

_ROWS = (
    "for row in batch.frame.iter_rows(), or derive the bolt from ouzel.RowBolt, whose handle is called with each row"
)

_OF_A_TUPLE = """
values value get get_string get_value get_values get_integer get_long get_double get_boolean get_by_field get_value_by_field
get_string_by_field get_integer_by_field fields items rows tuples tup
"""

TUPLE = {
    **dict.fromkeys(_OF_A_TUPLE.split(), _ROWS),
    **dict.fromkeys(("get_source_component", "source_component", "source"), "batch.component"),
    **dict.fromkeys(("get_source_stream_id", "source_stream_id", "stream_id"), "batch.stream"),
    **dict.fromkeys(("get_source_task", "task_id"), "batch.task"),
    "df": "batch.frame", "data": "batch.frame", "dataframe": "batch.frame",
    **dict.fromkeys(("ack", "fail", "emit"), "collector.{}(…)"),
}  # fmt: skip
"""What a tuple of Storm has, and a batch has not."""

FRAME = {
    "groupby": "group_by(…).agg(…)", "iterrows": "iter_rows(named=True)", "itertuples": "iter_rows()",
    "apply": "with_columns(…) of expressions", "assign": "with_columns(name=…)", "withcolumn": "with_columns(name=…)",
    "with_column": "with_columns(name=…)", "withcolumnrenamed": "rename({'old': 'new'})", "sort_values": "sort('column')",
    "order_by": "sort('column')", "orderby": "sort('column')", "astype": "cast(pl.Int64)", "fillna": "fill_null(0)",
    "dropna": "drop_nulls()", "isna": "is_null()", "isnull": "is_null()", "notna": "is_not_null()", "notnull": "is_not_null()",
    "isin": "is_in([…])", "loc": "filter(pl.col('n') > 1)", "iloc": "row(0), or frame[0:10]", "query": "filter(pl.col('n') > 1)",
    "where": "filter(pl.col('n') > 1)", "merge": "join(other, on='column')", "drop_duplicates": "unique()", "distinct": "unique()",
    "append": "pl.concat([frame, other])", "union": "pl.concat([frame, other])", "value_counts": "group_by('column').len()",
    "reset_index": "with_row_index()", "index": "with_row_index()", "to_records": "rows()", "collect": "rows()", "tolist": "to_list()",
    "map": "map_elements(function)", "count_values": "value_counts()", "empty": "is_empty()", "topandas": "to_pandas()",
    "copy": "clone()", "applymap": "with_columns(…)", "nunique": "n_unique()", "agg": "select(…)",
    "aggregate": "select(…)", "show": "head()",
    **dict.fromkeys(
        ["values", "value", "tuples", "tup", "get_values"],
        "for row in frame.iter_rows(), or derive the bolt from ouzel.RowBolt, whose handle is called with each row",
    ),
}  # fmt: skip
"""What pandas and PySpark call what Polars calls otherwise, in lower case."""

NEVER_CALLED = {
    **dict.fromkeys(("prepare", "initialize", "init", "setup", "on_start"), "open(self, context)"),
    **dict.fromkeys(("cleanup", "teardown", "stop", "on_stop"), "close(self)"),
    **dict.fromkeys(("process_tick", "on_tick", "processTick", "tick_tuple"), "tick(self, collector)"),
    **dict.fromkeys(("init_state", "initState", "load_state"), "restore(self, state)"),
    **dict.fromkeys(("pre_save", "preSave", "save_state"), "snapshot(self)"),
}  # fmt: skip
"""What other libraries call in a task, and the method that is called here."""


class NoSpec:
    """Where streamparse has a component's `spec()`: says who wires a component here."""

    def __init__(self, wiring: str) -> None:
        self._wiring = wiring

    def __get__(self, component: object, kind: type) -> object:
        raise AttributeError(
            f"{kind.__name__} has no spec(): a builder wires it; write builder = ouzel.TopologyBuilder('name'), "
            f"and builder.{self._wiring.format(kind.__name__)}"
        )


def _snake(name: str) -> str:
    """`setBolt` as `set_bolt`."""
    return re.sub("(?<=[a-z])(?=[A-Z])", "_", name).lower()


def meant_by(name: str, table: dict[str, str], here: Iterable[str]) -> str:
    """What to write instead of a name that is not there, by a table of what others call it, or by a name alike; empty if there is none."""
    plain = _snake(name)
    if plain in table or name.lower() in table:
        return f"write {table.get(plain) or table[name.lower()]}".format(plain)
    names = [one for one in here if not one.startswith("_")]
    near = [plain] if plain in names else get_close_matches(plain, names, 1)
    return f"did you mean {near[0]}?" if near else ""


def advise_of_builder(name: str, here: Iterable[str]) -> str:
    """The error for an attribute that a TopologyBuilder, which has those here, has not."""
    return _join_advice(f"a topology builder has no {name}", meant_by(name, BUILDER, here))


def advise_of_declarer(name: str, here: Iterable[str]) -> str:
    """The error for an attribute that what `set_bolt` gives, which has those here, has not."""
    return _join_advice(f"a bolt that is set has no {name}", meant_by(name, DECLARER, here))


def _join_advice(problem: str, instead: str) -> str:
    return f"{problem}; {instead}" if instead else problem
