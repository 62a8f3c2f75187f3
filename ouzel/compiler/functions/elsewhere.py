"""What other dialects call their functions: advice for who writes one of these names."""

from __future__ import annotations

from difflib import get_close_matches

from ouzel.errors import NotSupported, QueryError

_NAMES = {
    "DATE_FORMAT(t, 'yyyy-MM-dd')": "to_char strftime format_timestamp format_date timestamptostring",
    "TO_TIMESTAMP(text, 'yyyy-MM-dd')": "strptime parse_timestamp stringtotimestamp",
    "TO_DATE(text, 'yyyy-MM-dd')": "str_to_date parse_date stringtodate",
    "EXTRACT(HOUR FROM t)": "datepart date_part",
    "FROM TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' HOUR)": "window time_bucket date_bin",
    "DATE_TRUNC('DAY', t)": "datetrunc time_slice",
    "FLOOR(x), or DATE_TRUNC('DAY', t)": "trunc truncate",
    "TIMESTAMPADD(DAY, 1, t)": "dateadd",
    "UNIX_SECONDS(t)": "epoch to_unixtime",
    "POSITION(sought IN text)": "charindex strpos",
    "TRY_CAST(value AS INT)": "safe_cast try_convert",
    "CAST(value AS STRING)": "to_string str",
    "CARDINALITY(array)": "array_length array_size",
    "JSON_VALUE(text, '$.path')": "json_extract json_extract_scalar json_query extractjsonfield",
    "SPLIT(text, ',')": "string_split string_to_array",
    "COUNT(DISTINCT value)": "approx_count_distinct approx_distinct count_distinct",
    "COUNT_IF(condition)": "countif",
    "SUM(value) FILTER (WHERE condition)": "sumif sum_if",
    "a key of the input: what is random would differ in the batch job": "uuid rand random",
}
"""What to write here -> what others write."""

_HERE = {name: ours for ours, names in _NAMES.items() for name in names.split()}

_AGGREGATE_LIST = (
    "listagg string_agg group_concat array_agg collect collect_list collect_set first last first_value last_value any_value stddev "
    "stddev_pop stddev_samp variance var_pop var_samp median percentile percentile_cont approx_percentile mode corr max_by min_by "
    "arg_max arg_min latest_by_offset earliest_by_offset topk histogram json_objectagg json_arrayagg"
)
_AGGREGATES = frozenset(_AGGREGATE_LIST.split())
"""Aggregates that we do not have."""


def unknown_function(name: str, known: tuple[str, ...]) -> QueryError:
    """Why a call of `name` cannot be, and what to write instead; `known` are the names that there are."""
    if name.lower() in _AGGREGATES:
        problem = f"the aggregate {name.upper()} is not supported yet"
        return NotSupported(problem, instead="docs/functions.md lists those that are")
    problem, ours = f"there is no function {name.upper()}", _HERE.get(name.lower())
    if ours:
        return QueryError(problem, instead=f"write {ours}")
    close = get_close_matches(name.lower(), known, n=3)
    return QueryError(
        problem, instead=f"did you mean {' or '.join(match.upper() for match in close)}?" if close else ""
    )
