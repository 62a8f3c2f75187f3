"""What a type checker refuses, and why: each line says what it is told."""

from __future__ import annotations

from datetime import datetime, timedelta

from ouzel import Source, Stream, monoid

lines: Stream[str] = Source.file("lines.txt")
pairs = lines.map(lambda line: (line, len(line)))

lines.map(lambda line: line.no_such)  # error: "str" has no attribute "no_such"
lines.sum_by_key(monoid.Count())  # error: Invalid self argument "Stream[str]" to attribute function "sum_by_key"
lines.keys()  # error: Invalid self argument "Stream[str]" to attribute function "keys"
pairs.map_values(str.upper)  # error: Argument 1 to "map_values" of "Stream" has incompatible type
pairs.filter(lambda pair: pair[2])  # error: Tuple index out of range
pairs.flat_map(lambda pair: pair[1])  # error: Argument 1 to "flat_map" of "Stream" has incompatible type
numbers: Stream[int] = pairs.keys()  # error: Incompatible types in assignment
timed = lines.map(lambda line: (line, datetime(2026, 1, 1))).event_time("value")
windows = timed.map_values(lambda at: 1).sum_by_window(monoid.Sum(), timedelta(hours=1))

lines.swap()  # error: Invalid self argument "Stream[str]" to attribute function "swap"
lines.map_values(len)  # error: Invalid self argument "Stream[str]" to attribute function "map_values"
lines.running_sum(monoid.Sum())  # error: Invalid self argument "Stream[str]" to attribute function "running_sum"
pairs.filter_values(lambda size: size.upper())  # error: "int" has no attribute "upper"
pairs.map_keys(lambda key: key + 1)  # error: Unsupported operand types for + ("str" and "int")
pairs.flat_map_values(lambda size: size)  # error: Argument 1 to "flat_map_values" of "Stream" has incompatible type
pairs.option_map(lambda pair: pair.no_such)  # error: "tuple[str, int]" has no attribute "no_such"
lines.lookup(lines)  # error: Argument 1 to "lookup" of "Stream" has incompatible type
lines.merge(pairs)  # error: Argument 1 to "merge" of "Stream" has incompatible type
lines.either(pairs).map(lambda both: both[0].upper())  # error: Item "None" of "str | None" has no attribute "upper"
pairs.left_join(pairs).map_values(lambda both: both[1] + 1)  # error: Unsupported operand types for + ("None" and "int")
pairs.join(lines)  # error: Argument 1 to "join" of "Stream" has incompatible type
pairs.sum_by_key(monoid.Sum)  # error: Argument 1 to "sum_by_key" of "Stream" has incompatible type
pairs.sum_by_key(monoid.Max()).map_values(lambda most: most.upper())  # error: "int" has no attribute "upper"
pairs.sum_by_key(monoid.ListOf()).map_values(lambda all_of: all_of[0].upper())  # error: "int" has no attribute "upper"
pairs.running_sum(monoid.Min()).map_values(lambda both: both[1].upper())  # error: "int" has no attribute "upper"
timed.sum_by_window(monoid.Min(), timedelta(1)).map(lambda one: one.value + 1)  # error: Unsupported operand types for +
pairs.write("out.json")  # error: Argument 1 to "write" of "Stream" has incompatible type
timed.event_time("value", 60)  # error: Argument 2 to "event_time" of "Stream" has incompatible type
windows.map(lambda one: one.no_such)  # error: "WindowTotal[str, int]" has no attribute "no_such"
lines.also(1)  # error: Argument 1 to "also" of "Stream" has incompatible type
lines.collect({"a": 1}).map(lambda n: n.upper())  # error: "int" has no attribute "upper"
lines.group_by("key")  # error: "Stream[str]" has no attribute "group_by"
