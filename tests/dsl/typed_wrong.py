"""What a type checker refuses, and why: each line says what it is told."""

from __future__ import annotations

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
