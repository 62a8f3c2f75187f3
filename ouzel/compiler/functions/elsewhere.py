"""Other dialects' names of functions, and what to write here instead."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches

from ouzel.errors import NotSupported, QueryError

_NAMES = {
    "DATE_FORMAT(t, 'yyyy-MM-dd')": "to_char strftime format_timestamp format_date timestamptostring",
    "TO_TIMESTAMP(text, 'yyyy-MM-dd')": "strptime parse_timestamp stringtotimestamp",
    "TO_DATE(text, 'yyyy-MM-dd')": "str_to_date parse_date stringtodate",
    "EXTRACT(HOUR FROM t)": "datepart date_part",
    "FROM TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' HOUR)": "window time_bucket date_bin",
    "DATE_TRUNC('DAY', t)": "datetrunc time_slice",
    "CAST(x AS DECIMAL(p, s)) to round, SIGN(x) * FLOOR(ABS(x)) to cut, or DATE_TRUNC('DAY', t)": "trunc truncate",
    "TIMESTAMPADD(DAY, 1, t)": "dateadd",
    "TIMESTAMPDIFF(DAY, earlier, later)": "age",
    "UNIX_SECONDS(t)": "epoch to_unixtime",
    "POSITION(sought IN text)": "charindex strpos",
    "TRY_CAST(value AS INT)": "safe_cast try_convert",
    "CAST(value AS STRING)": "to_string str",
    "CARDINALITY(array)": "array_length array_size",
    "JSON_VALUE(text, '$.path')": "json_extract json_extract_scalar extractjsonfield",
    "JSON_EXISTS(text, '$')": "json_valid is_valid_json",
    "the text as it is: JSON_VALUE(text, '$.path') looks into it": "parse_json try_parse_json json_parse from_json",
    "CARDINALITY(SPLIT(...)), or read the array as a column of a table with 'format' = 'json'": "json_length json_array_length",
    "MD5(text)": "hash farm_fingerprint cityhash64 murmurhash xxhash64 hash64",
    "SPLIT(text, ',')": "string_split string_to_array",
    "COUNT(DISTINCT value)": "count_distinct",
    "APPROX_COUNT_DISTINCT(value)": "hll_count",
    "COUNT_IF(condition)": "countif",
    "ARRAY_AGG(value)": "collect",
    "COLLECT_LIST(DISTINCT value)": "collect_set",
    "FIRST_VALUE(value ORDER BY time)": "first earliest_by_offset",
    "LAST_VALUE(value ORDER BY time)": "last latest_by_offset",
    "PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY value)": "quantile",
    "SUM(value) FILTER (WHERE condition)": "sumif sum_if",
    "COALESCE(value, 0)": "zeroifnull",
    "IF(condition, a, b)": "iif",
    "CASE value WHEN 1 THEN 'a' ELSE 'b' END": "decode",
    "TRY_CAST(value AS INT), or a / NULLIF(b, 0)": "try try_divide",
    "MAP['key', value]": "object_construct",
    "ROW(a, b)": "struct named_struct struct_pack",
    "FROM t CROSS JOIN UNNEST(array) AS u (element)": "explode explode_outer posexplode inline flatten_table",
    "CROSS JOIN UNNEST(array) AS u (element), and ARRAY_AGG of what is computed": (
        "transform list_transform array_transform filter list_filter array_filter list_reduce"
    ),
    "FROM UNNEST(SEQUENCE(1, 5)) AS u (n)": "generate_series",
    "value > GREATEST(a, b), or NOT ARRAY_CONTAINS(array, value) of an array": "all",
    "the interval with its unit: INTERVAL '5' MINUTE, or TIMESTAMPADD(MINUTE, n, t) for a number n of minutes": (
        "make_interval make_dt_interval numtodsinterval to_minutes to_seconds to_hours to_days"
    ),
    "the columns one by one: AVG(a) AS a, AVG(b) AS b": "columns",
    "the value itself: a table with 'format' = 'json' writes ROWs, ARRAYs and MAPs as JSON": (
        "to_json to_json_string json_agg jsonb_agg row_to_json jsonb_build_object json_build_object json_object_agg to_jsonb"
    ),
    "a time column of the table, WHERE ts > ...: there is no clock in a query": "mz_now current_watermark_time",
    "FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '5' MINUTE)), which has window_start": (
        "session_window time_window tumbling_window windowstart"
    ),
    "CAST(CAST(x AS DECIMAL(18, 2)) AS VARCHAR) for a number with 2 digits, and || for a text of parts": (
        "format printf format_number format_string"
    ),
    "a key of the input: what is random would differ in the batch job": "uuid rand random newid gen_random_uuid generate_uuid",
}
"""What to write here -> what others write."""

_HERE = {name: ours for ours, names in _NAMES.items() for name in names.split()}

_AGGREGATES = {
    **dict.fromkeys(
        ("topk", "topkdistinct", "approx_top_k", "approx_top_count", "top_k", "approx_most_frequent"),
        "group first, and write QUALIFY ROW_NUMBER() OVER (PARTITION BY key ORDER BY value DESC) <= 3 above it; "
        "or SLICE(ARRAY_AGG(value ORDER BY value DESC), 1, 3)",
    ),
    **dict.fromkeys(("histogram", "width_histogram", "map_from_entries"), "GROUP BY the value too, and COUNT(*)"),
    **dict.fromkeys(
        ("approx_quantiles", "percentile_approx", "approx_percentile_cont", "quantiles"),
        "write APPROX_PERCENTILE(value, 0.9) for each part that is asked for",
    ),
    **dict.fromkeys(("sum_distinct", "sumdistinct"), "write SUM(DISTINCT value)"),
    **dict.fromkeys(("product", "mul"), "write EXP(SUM(LN(value))) of numbers above 0"),
    **dict.fromkeys(("max_n", "min_n", "maxn", "minn"), "write SLICE(ARRAY_AGG(value ORDER BY value DESC), 1, 3)"),
}  # fmt: skip
"""Aggregates that we do not have, and what to write instead."""


_OVER = frozenset(
    {"row_number", "rank", "dense_rank", "ntile", "percent_rank", "cume_dist", "lag", "lead", "nth_value"}
)
"""Functions that are called with OVER alone."""

FUNCTION = "FUNCTION"
"""What an error of an unknown function is about."""

_WINDOWS = frozenset({"tumble", "hop", "cumulate", "session"})


def unknown_function(name: str, known: tuple[str, ...]) -> QueryError:
    """The error for an unknown function, with what to write instead; `known` are the names of all functions."""
    if name.lower() in _AGGREGATES:
        problem = f"the aggregate {name.upper()} is not supported yet"
        return NotSupported(problem, instead=_AGGREGATES[name.lower()])
    if name.lower() in _OVER:
        problem = f"{name.upper()} is of a row among others, and lacks its OVER"
        return QueryError(problem, instead=f"write {name.upper()}(...) OVER (ORDER BY column)")
    if name.lower() in _WINDOWS:
        advice = f"write FROM {name.upper()}(TABLE t, DESCRIPTOR(ts), ...), and group by window_start and window_end"
        return QueryError(f"{name.upper()} stands in FROM, or as a key of GROUP BY alone", instead=advice)
    problem, ours = f"there is no function {name.upper()}", _HERE.get(name.lower())
    close = get_close_matches(name.lower(), known, n=3, cutoff=0.7)
    instead = "SHOW FUNCTIONS lists those that there are"
    instead = f"did you mean {' or '.join(match.upper() for match in close)}?" if close else instead
    return QueryError(problem, instead=f"write {ours}" if ours else instead, about=(FUNCTION, name))


@dataclass(frozen=True)
class EngineDifference:
    """A call on which engines differ: what each answers, in words. `spark_call` is the call in Spark's own SQL."""

    call: str
    here: str
    spark: str
    postgres: str
    spark_call: str


DIFFERENCES = (
    EngineDifference("7 / 2", "3, as Flink", "3.5", "3", "7 / 2"),
    EngineDifference("ARRAY[1, 2][3]", "NULL, as Flink", "fails; it counts from 0", "NULL", "array(1, 2)[3]"),
    EngineDifference("ELEMENT_AT(ARRAY[1, 2], 3)", "fails, as Spark", "fails", "no such function", "element_at(array(1, 2), 3)"),
    EngineDifference(
        "REGEXP_EXTRACT('abc', 'x')", "NULL, as Flink", "''", "NULL, as `SUBSTRING('abc' FROM 'x')`", "regexp_extract('abc', 'x', 0)"
    ),
    EngineDifference(
        "REGEXP_EXTRACT('abc', '(b)|(x)', 2)", "'', as Spark: a group that takes no part; Flink has NULL", "''", "no groups by number",
        "regexp_extract('abc', '(b)|(x)', 2)",
    ),
    EngineDifference(
        "SPLIT('a.b', '.')", "[a, b], as Flink", "a regular expression: four empty texts", "no such function", "split('a.b', '.')"
    ),
    EngineDifference(
        "CAST(1.25 AS DECIMAL)", "1: DECIMAL(10, 0), as Flink and Spark", "1", "1.25: NUMERIC keeps all digits", "CAST(1.25 AS DECIMAL)"
    ),
    EngineDifference("CAST(2.5 AS INT)", "2, as Flink and Spark", "2", "3", "CAST(2.5 AS INT)"),
    EngineDifference("ROUND(2.5E0)", "3, as Flink and Spark", "3", "2", "round(2.5D)"),
    EngineDifference(
        "JSON_VALUE('{\"a\": [1]}', '$.a')", "[1], as Spark: an array or an object as JSON; Flink has NULL", "[1]", "NULL",
        "get_json_object('{\"a\": [1]}', '$.a')",
    ),
    EngineDifference("CONCAT('a', NULL)", "NULL, as Flink and Spark", "NULL", "a", "concat('a', NULL)"),
)  # fmt: skip
"""Flink's meaning is taken where an analyst sees a difference between Flink and Spark; the job says it in Spark's expressions."""
