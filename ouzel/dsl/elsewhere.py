"""Verbs that streams of other libraries have, and what to write here: PyFlink, Faust, Beam, Spark, Bytewax, pandas and Polars."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

KEYED = "map to pairs, map(lambda record: (key, value)), and call sum_by_key(monoid)"

BOTH = "call a.left_join(b) and b.left_join(a), or sql() with FULL JOIN"

TASKS = "call name('x'), and run(options={'x': StepOptions(parallelism=4)}); the setting parallelism is of all steps"

WHOLE = "call table().rows() to loop over all its records, table() for a frame of them, or show(n) for the first"

JOINED = "pairs are joined by their keys: write {left}.map({pair}).{verb}({right}.map({pair}))"

HOW = {
    **dict.fromkeys(("left", "leftouter", "right", "rightouter"), "left_join"),
    **dict.fromkeys(("anti", "leftanti"), "left_join"),
}
"""The joins of other libraries that have a verb of another name here."""

SINK = "call write(Sink.file(…))"

COLUMNS = "call explain(), which shows its columns, or table().schema for those of the answer"

ADDED = "call select('a', 'b', name=expression), which names the columns that stay, too"

WINDOWED = "call event_time(column, delay), and sum_by_window(monoid, size)"

OF_ALL = "map to pairs of one key, map(lambda record: (0, record.field)), and call sum_by_key(monoid) with the monoid of that name"

RUNNING = "map to pairs, and behind event_time(column, delay) call running_sum(monoid)"

DISTINCT = "map to pairs, map(lambda record: (record, 1)), and call sum_by_key(monoid.Count()).keys()"

COUNTED = "call event_time(column, delay), and sum_by_window(monoid.Count(), size)"

ELSEWHERE = {
    "group_by": KEYED, "groupby": KEYED, "key_by": KEYED, "key_on": KEYED, "group_by_key": KEYED, "combine_per_key": KEYED,
    "reduce": KEYED, "reduce_by_key": KEYED, "fold": KEYED, "aggregate": KEYED, "agg": KEYED, "count": KEYED, "sum": KEYED,
    "distinct": DISTINCT, "unique": DISTINCT,
    "window": "call event_time(column, delay), and sum_by_window(monoid, size)",
    "window_by": "call event_time(column, delay), and sum_by_window(monoid, size)", "with_columns": ADDED,
    "union": "call merge(other), or write a + b", "concat": "call merge(other), or write a + b", "inner_join": "call join(other)",
    "where": "call filter(condition)", "filter_map": "call option_map(function)", "apply": "call map(function)",
    "sink": "call write(Sink.file(…))", "to": "call write(Sink.file(…))", "output": "call write(Sink.file(…))",
    "to_pandas": "call tables(form='pandas')", "head": "call show(n)", "limit": "call show(n), or sql('SELECT … LIMIT n')",
    "with_column": ADDED, "rows": "call table().rows()", "results": "call table(), or start()",
    "status": "call start(), whose run has one", "stop": "call start(), whose run has it", "to_list": "call memory(), or table().rows()",
    "outer_join": BOTH, "full_join": BOTH, "full_outer_join": BOTH, "cogroup": BOTH, "co_group": BOTH,
    "right_join": "call other.left_join(this)", "foreach": "call write(Sink.print()), or loop over the rows of start()",
    "for_each": "call write(Sink.print()), or loop over the rows of start()", "peek": "call write(Sink.print()), or show(n)",
    "inspect": "call write(Sink.print()), or show(n)", "set_parallelism": TASKS, "repartition": TASKS,
    "rebalance": TASKS, "shuffle": TASKS, "cache": "leave it out: a plan is computed when it runs",
    "persist": "leave it out: a plan is computed when it runs", "take": "call show(n)", "first": "call show(1)",
    "to_parquet": "call write(Sink.file('path', format='parquet'))", "write_parquet": "call write(Sink.file('path', format='parquet'))",
    "to_csv": "call write(Sink.file('path', format='csv'))", "write_csv": "call write(Sink.file('path', format='csv'))",
    "to_json": "call write(Sink.file('path', format='json'))", "assign_timestamps_and_watermarks": "call event_time(column, delay)",
    "with_watermark": "call event_time(column, delay)", "sort": "call sql('SELECT … ORDER BY … LIMIT n')", "compute": "call table()",
    "execute": "call table()", "execute_and_collect": "call table()", "run_local": "call table(engine='memory')",
    "sink_to": SINK, "add_sink": SINK, "to_table": SINK, "write_stream": SINK, "write_to": SINK, "insert_into": SINK, "save": SINK,
    "save_as_text_files": SINK, "publish": SINK, "through": SINK, "to_topic": SINK, "forward": SINK, "produce": SINK,
    **dict.fromkeys("print,pprint".split(","), "call write(Sink.print()), or show(n)"),  # noqa: SIM905
    "foreach_batch": "call write(Sink.print()), or loop over changes()",
    "for_each_batch": "call write(Sink.print()), or loop over changes()",
    "branch": "call filter(condition) once for each branch", "split": "call filter(condition) once for each branch",
    "partition": "call filter(condition) once for each branch", "route": "call filter(condition) once for each branch",
    "order_by": "call sql('SELECT … ORDER BY … LIMIT n')", "sort_by": "call sql('SELECT … ORDER BY … LIMIT n')",
    "top": "call sql('SELECT … ORDER BY … LIMIT n')", "transform": "call map(function)", "map_partitions": "call map(function)",
    "map_batches": "call map(function)", "apply_async": "call map(function)", "process": "call flat_map(function)",
    "par_do": "call flat_map(function)", "flatmap": "call flat_map(function)", "explode": "call flat_map(function)",
    "pipe": "call the function with the stream: function(stream)",
    "through_function": "call the function with the stream: function(stream)",
    "rename": "call select(new=col('old'))", "alias": "call select(new=col('old'))", "drop": "call select(…) with the columns that stay",
    "columns": COLUMNS, "schema": COLUMNS, "dtypes": COLUMNS, "describe": COLUMNS, "print_schema": COLUMNS, "info": COLUMNS,
    "count_by_key": "map to (key, 1), and call sum_by_key(monoid.Sum())",
    "count_by_value": "map to (value, 1), and call sum_by_key(monoid.Sum())",
    "value_counts": "map to (value, 1), and call sum_by_key(monoid.Sum())", "count_window": COUNTED, "count_final": COUNTED,
    "reduce_window": WINDOWED, "fold_window": WINDOWED, "window_into": WINDOWED, "tumbling_window": WINDOWED, "hopping_window": WINDOWED,
    "sliding_window": WINDOWED,
    "windowed_by": WINDOWED, "window_all": WINDOWED,
    "with_timestamp_assigner": "call event_time(column, delay)", "uid": "call name('x')", "set_uid": "call name('x')",
    "dropna": "call filter(lambda record: record.field is not None)", "drop_na": "call filter(lambda record: record.field is not None)",
    "fillna": "call map(function), or select(name=fn.coalesce(col('name'), 0))", "cast": "call select(name=col('name').cast(int))",
    "iter_rows": "call changes(), or start() and loop over its rows", "subscribe": "call start(), and loop over its rows",
    "await_termination": "call start(), whose run has wait()", "to_arrow": "call table().to_arrow()", "to_polars": "call table()",
    "to_dicts": "call table().to_dicts()", "to_dict": "call table().to_dicts()", "collect_as_list": "call table().rows()",
    "coalesce": TASKS, "partition_by": TASKS, "subtract": "call left_join(other), and filter those without a match",
    "zip": "call join(other), for records of a stream have no place", "enumerate": "give the records a number where they are made",
    "returns": "write map(function, returns=str)", "with_output_types": "write map(function, returns=str)",
    "submit": "call ouzel.submit(stream, name)",
    **dict.fromkeys(
        ("sum_by", "sum_per_key", "reduce_groups", "aggregate_by_key", "fold_by_key", "avg_by_key", "mean_by_key", "max_by_key",
         "min_by_key", "max_by", "min_by", "count_by", "sum_by_field", "sum_by_value", "stats_by_key", "key_by_field", "group",
         "update_state_by_key", "map_with_state", "stateful_map", "stateful_flat_map", "map_groups_with_state", "flat_map_groups",
         "flat_map_groups_with_state", "apply_in_pandas", "transform_with_state", "stateful", "combine_by_key", "sum_by_keys"),
        KEYED,
    ),
    **dict.fromkeys(
        ("avg", "mean", "max", "min", "std", "median", "variance", "quantile", "nunique", "idxmax", "idxmin", "total"), OF_ALL
    ),
    **dict.fromkeys(
        ("tumble", "tumbling", "hop", "hopping", "sliding", "rolling", "resample", "grouper", "count_by_window", "group_by_window",
         "reduce_by_window", "reduce_by_key_and_window", "window_sum", "sum_window", "sum_over", "sum_by_time", "aggregate_window",
         "time_window", "time_window_all", "fold_by_window", "mean_by_window", "max_by_window", "sum_by_count"),
        WINDOWED,
    ),
    **dict.fromkeys(("running_count", "running_total", "cumsum", "cumcount", "expanding", "scan", "accumulate"), RUNNING),
    **dict.fromkeys(
        ("shift", "diff", "lag", "pct_change"),
        "call sql('SELECT …, LAG(n) OVER (PARTITION BY key ORDER BY event_time) AS former FROM this')",
    ),
    **dict.fromkeys(("dedup", "deduplicate", "drop_duplicates", "drop_duplicates_within_watermark", "unique_by"), DISTINCT),
    **dict.fromkeys(
        ("interval_join", "window_join", "join_by_window", "join_within", "asof_join", "as_of_join", "merge_asof", "join_asof",
         "temporal_join"),
        "call sql(text, other=stream), with a JOIN of times, or ASOF JOIN: docs/joins.md",
    ),
    "broadcast": "call left_join(other), which keeps both sides",
    **dict.fromkeys(
        ("create_temp_view", "create_or_replace_temp_view", "create_temporary_view", "register", "register_temp_table", "table_api",
         "to_sql", "sql_query", "query", "execute_sql", "spark_sql"),
        "call sql('SELECT … FROM this'): the stream is the table `this` there",
    ),
    **dict.fromkeys(
        ("plan", "print_topology", "topology", "print_plan", "get_execution_plan", "explain_plan", "optimize", "to_dot", "build"),
        "call print(stream.explain()), or job() for what ouzel.start takes",
    ),
    **dict.fromkeys(
        ("timestamp", "rowtime", "with_time", "delay", "watermark", "set_event_time", "timestamp_by", "assign_timestamps"),
        "call event_time(column, delay)",
    ),
    **dict.fromkeys(
        ("late", "allowed_lateness", "side_output", "get_side_output", "side_output_late_data", "late_data", "grace"),
        "say how late records may come by event_time(column, delay); those behind that go to run(late_path='late.jsonl')",
    ),
    **dict.fromkeys(("to_stream", "start_stream", "stream"), "leave it out: this is one"),
    "sample": "call filter(lambda record: record.id % 100 == 0), which is the same in every run",
    "collect_list": "map to pairs, and call sum_by_key(monoid.ListOf())",
    "collect_set": "map to pairs, and call sum_by_key(monoid.SetOf())",
    **dict.fromkeys(("foreach_rdd", "foreach_partition", "for_each_row"), "call write(Sink.print()), or loop over the rows of start()"),
    **dict.fromkeys(("item", "iloc", "loc", "to_numpy", "tolist", "values_list", "as_list", "fetch", "get", "result"), WHOLE),
    **dict.fromkeys(
        ("nlargest", "nsmallest", "top_k", "largest"),
        "map to pairs, and call sum_by_key(monoid.TopK(3)), or sql('SELECT … ORDER BY … LIMIT 3')",
    ),
    **dict.fromkeys(("filter_not", "filter_out", "remove", "where_not"), "call filter(lambda record: not …)"),
    **dict.fromkeys(("select_key", "map_to_pair", "re_key", "with_key", "rekey", "set_key"), "call map(lambda record: (key, record))"),
    **dict.fromkeys(
        ("count_distinct", "approx_count_distinct", "count_unique"),
        "map to pairs, map(lambda record: (key, value)), and call sum_by_key(monoid.HyperLogLog())",
    ),
    **dict.fromkeys(("sort_values", "sort_by_key", "sort_index"), "call sql('SELECT … ORDER BY … LIMIT n')"),
    **dict.fromkeys(("assign", "eval", "mutate", "with_field"), ADDED),
    **dict.fromkeys(("write_json", "write_kafka", "write_stream_to", "sink_file", "to_kafka", "to_file"), SINK),
    "pivot": "call sql('SELECT key, SUM(n) FILTER (WHERE kind = …) AS one, … FROM this GROUP BY key')",
    "merge_with": "call merge(other), or write a + b",
}  # fmt: skip
"""Verbs of other libraries, and what to write here."""

SESSIONS = frozenset(
    ("session", "sessions", "session_windows", "sum_by_session", "session_window", "sum_by_session_window", "group_by_session",
     "session_window_sum", "count_by_session", "by_session", "window_by_session")
)  # fmt: skip
"""What a verb of sessions may be called."""


def advise_of_sessions(fields: Sequence[str]) -> str:
    """What to write for sessions, which SQL has: the totals of a key, if the records are pairs, else of the first field."""
    key, value = (fields[0], fields[-1]) if fields else ("key", "value")
    return (
        'sessions are written in SQL: call event_time(column, delay), and behind it sql("SELECT '
        f"{key}, window_start, window_end, SUM({value}) AS total FROM SESSION(this PARTITION BY {key}, DESCRIPTOR(event_time), "
        f"INTERVAL '30' MINUTE) GROUP BY {key}, window_start, window_end\")"
    )


def advise_of_join(verb: str, named: Mapping[str, object]) -> str:
    """What to write for a join that is called as elsewhere, with these arguments by name: by a column, or `how="left"`."""
    key = named.get("on", named.get("left_on"))
    key = key if isinstance(key, str) and key.isidentifier() else "key"
    pair = f"lambda record: (record.{key}, record)"
    how = str(named.get("how", "")).replace("_", "").lower()
    left, right = ("b", "a") if how.startswith("right") else ("a", "b")
    told = JOINED.format(left=left, right=right, pair=pair, verb=HOW.get(how, verb))
    if how in ("outer", "full", "fullouter"):
        return f"map both to pairs, map({pair}), and {BOTH}"
    return f"{told}.filter(lambda pair: pair[1][1] is None)" if how in ("anti", "leftanti") else told
