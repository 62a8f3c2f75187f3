"""JSON records read once, byte by byte, into columns of places: where each wanted value stands. Loops compiled by Numba.

A tree of nodes says what is wanted: the record itself is node 0, an object; a ROW has a node for each field, an ARRAY one for its elements,
a MAP one for its keys and one for its values. Each ARRAY and MAP opens a dimension: its elements of all records stand side by side, and the
nodes below have an entry for each. Dimension 0 are the records. A record that is not JSON, does not fit, or is merely odd (a field that
comes twice, be it in another case, a name with escapes) is left out as a whole: who asked looks at it by itself.
"""

from __future__ import annotations

import numpy as np

from ouzel.connectors.formats.compiled import compiled

DEPTH_MAX = 500
"""How deep objects and arrays may stand in each other."""

NULL, STRING, ESCAPED, WHOLE, FRACTION, TRUE, FALSE, CONSTANT, NESTED, REAL, THERE = range(11)
"""What an entry is: REAL is a float whose bits are in place of its start, THERE an object or array that is read."""

ROW, MAP, LIST, INTEGER, FLOAT, LEAF = range(6)
"""What a node is: of an INTEGER the value is in place of its start."""

_QUOTE, _BACKSLASH, _COMMA, _COLON, _SPACE = map(ord, '"\\,: ')
_OPEN, _CLOSE, _OPEN_LIST, _CLOSE_LIST = map(ord, "{}[]")
_MINUS, _PLUS, _POINT, _ZERO, _NINE, _E, _SMALL_E, _U = map(ord, "-+.09Eeu")
_NODE, _ENTRY, _SEEN, _GUESS, _BEGIN = range(5)
_WORDS = np.frombuffer(b"nulltruefalseNaNInfinity-Infinity", np.uint8)
_WORD_ENDS = np.array([0, 4, 8, 13, 16, 24, 33])
_WORD_KINDS = np.array([NULL, TRUE, FALSE, CONSTANT, CONSTANT, CONSTANT])
_ESCAPES = np.frombuffer(b'"\\/bfnrt', np.uint8)
_TENS = 10.0 ** np.arange(23)
_EXACT_MAX = 1 << 53
_KEYS_MAX = 64
_NULL_WAS_THERE = -1
"""Where a column's value begins of which only the name has been read, or that was null."""
_CASE_BIT, _SMALL_A, _SMALL_Z = 32, ord("a"), ord("z")


SHAPE, TAKES, FIRST, LAST, INNER, LOW, HIGH, NAME_AT, NAME_END, DIMENSION, ANY_CASE, BASE = range(12)
"""Columns of the tree, a row for each node. TAKES has bits: 1 << kind. Children follow each other from FIRST to before LAST; INNER is the
dimension that an ARRAY or MAP opens; LOW and HIGH bound an INTEGER; ANY_CASE is 1 where a name in another case will do; entry e of the
node is cell BASE + e."""

KIND, BEGIN, SIZE = range(3)
"""Columns of the cells."""

COUNT, ROW_BASE = range(2)
"""Columns of the dimensions: how many entries there are; `rows` says from ROW_BASE on which row each belongs to."""


@compiled()
def scan(data, starts, ends, tree, names, cells, sides, rows, good):  # type: ignore[no-untyped-def]
    """Read all records; returns how many are rows now, whose indices are in `good`. `sides` are the dimensions."""
    stack = np.zeros((DEPTH_MAX + 1, 5), np.int64)
    saved = sides[:, COUNT].copy()
    for record in range(starts.size):
        row = sides[0, COUNT]
        saved[:] = sides[:, COUNT]
        good[row] = record
        sides[0, COUNT] = row + 1
        if not _read_record(data, starts[record], ends[record], row, tree, names, cells, sides, rows, stack):
            for node in range(len(tree)):
                base, of = tree[node, BASE], tree[node, DIMENSION]
                cells[base + saved[of] : base + sides[of, COUNT], KIND] = NULL
            sides[:, COUNT] = saved
    return sides[0, COUNT]


@compiled(inline="always")
def _read_record(data, at, end, row, tree, names, cells, sides, rows, stack):  # type: ignore[no-untyped-def]
    at = _pass_space(data, at, end)
    if at >= end or data[at] != _OPEN:
        return False
    _push(stack, 0, 0, row, tree)
    depth = 1
    at += 1
    while depth > 0:
        at, depth = _read_member(data, at, end, depth, row, tree, names, cells, sides, rows, stack)
        if at < 0:
            return False
    return _pass_space(data, at, end) == end


@compiled()
def _push(stack, depth, node, entry, tree):  # type: ignore[no-untyped-def]
    stack[depth, _NODE] = node
    stack[depth, _ENTRY] = entry
    stack[depth, _SEEN] = 0
    stack[depth, _GUESS] = tree[node, FIRST] if node >= 0 else 0
    stack[depth, _BEGIN] = -1


@compiled(inline="always")
def _read_member(data, at, end, depth, row, tree, names, cells, sides, rows, stack):  # type: ignore[no-untyped-def]
    """Read the next member of the innermost object or array, or its end; a negative place says that it cannot be."""
    top = depth - 1
    node = stack[top, _NODE]
    is_list = node == -2 or (node >= 0 and tree[node, SHAPE] == LIST)
    at = _pass_space(data, at, end)
    if at < end and data[at] == (_CLOSE_LIST if is_list else _CLOSE):
        _close(at + 1, top, tree, cells, stack)
        return at + 1, top
    if stack[top, _SEEN] > 0:
        if at >= end or data[at] != _COMMA:
            return -1, 0
        at = _pass_space(data, at + 1, end)
    stack[top, _SEEN] += 1
    child, entry = -1, 0
    if not is_list:
        at, child, entry = _read_name(data, at, end, top, row, tree, names, cells, sides, rows, stack)
        if at < 0:
            return -1, 0
    elif node >= 0:
        child, entry = tree[node, FIRST], _append(tree[node, INNER], row, sides, rows)
    if at >= end:
        return -1, 0
    return _read_value(data, at, end, child, entry, depth, tree, cells, stack)


@compiled()
def _close(at, top, tree, cells, stack):  # type: ignore[no-untyped-def]
    node = stack[top, _NODE]
    if node >= 0 and tree[node, SHAPE] != ROW:
        cells[tree[node, BASE] + stack[top, _ENTRY], SIZE] = stack[top, _SEEN]
    elif node < 0 and stack[top, _BEGIN] >= 0:
        place = stack[top, _BEGIN]
        cells[place, SIZE] = at - cells[place, BEGIN]


@compiled()
def _append(dimension, row, sides, rows):  # type: ignore[no-untyped-def]
    entry = sides[dimension, COUNT]
    sides[dimension, COUNT] = entry + 1
    rows[sides[dimension, ROW_BASE] + entry] = row
    return entry


@compiled(inline="always")
def _read_name(data, at, end, top, row, tree, names, cells, sides, rows, stack):  # type: ignore[no-untyped-def]
    """The name of a member and the colon behind: where its value begins, and which entry of which node that is."""
    if at >= end or data[at] != _QUOTE:
        return -1, 0, 0
    begin = at + 1
    at, escaped = _pass_string(data, begin, end)
    if at < 0:
        return -1, 0, 0
    length = at - 1 - begin
    at = _pass_space(data, at, end)
    if at >= end or data[at] != _COLON:
        return -1, 0, 0
    at = _pass_space(data, at + 1, end)
    node, entry = stack[top, _NODE], stack[top, _ENTRY]
    if node < 0:
        return at, -1, 0
    if tree[node, SHAPE] == MAP:
        count = stack[top, _SEEN]
        entry = _append(tree[node, INNER], row, sides, rows)
        key = tree[tree[node, FIRST], BASE] + entry
        if escaped or count > _KEYS_MAX or _is_known(data, begin, length, key, count - 1, cells):
            return -1, 0, 0
        cells[key, KIND], cells[key, BEGIN], cells[key, SIZE] = STRING, begin, length
        return at, tree[node, FIRST] + 1, entry
    child = _find(data, begin, length, stack[top, _GUESS], node, tree, names)
    is_other = child < 0
    if is_other:
        child = _find_other(data, begin, length, node, tree, names)
    if child >= 0:
        stack[top, _GUESS] = child + 1 if child + 1 < tree[node, LAST] else tree[node, FIRST]
    if child < 0:
        return (-1 if escaped else at), child, entry
    place = tree[child, BASE] + entry
    is_twice = cells[place, KIND] != NULL or (is_other and cells[place, BEGIN] == _NULL_WAS_THERE)
    if escaped or is_twice:
        return -1, 0, 0
    cells[place, BEGIN] = _NULL_WAS_THERE
    return at, child, entry


@compiled()
def _is_known(data, begin, length, place, count, cells):  # type: ignore[no-untyped-def]
    """Whether one of the last keys is the same."""
    for other in range(place - count, place):
        if cells[other, SIZE] == length and _are_same(data, begin, data, cells[other, BEGIN], length):
            return True
    return False


@compiled()
def _find(data, begin, length, guess, node, tree, names):  # type: ignore[no-untyped-def]
    """The field of this name, most likely the guess; -1 if none."""
    first, last = tree[node, FIRST], tree[node, LAST]
    for number in range(last - first):
        child = guess + number
        if child >= last:
            child -= last - first
        start = tree[child, NAME_AT]
        if tree[child, NAME_END] - start == length and _are_same(data, begin, names, start, length):
            return child
    return -1


@compiled()
def _find_other(data, begin, length, node, tree, names):  # type: ignore[no-untyped-def]
    """The field whose name is this one but for its case; -1 if none."""
    for child in range(tree[node, FIRST], tree[node, LAST]):
        start = tree[child, NAME_AT]
        is_asked = tree[child, ANY_CASE] and tree[child, NAME_END] - start == length
        if is_asked and _differ_in_case(data, begin, names, start, length):
            return child
    return -1


@compiled()
def _differ_in_case(left, at, right, start, length):  # type: ignore[no-untyped-def]
    for place in range(length):
        one, other = left[at + place], right[start + place]
        if one != other and (one ^ other != _CASE_BIT or not _SMALL_A <= one | _CASE_BIT <= _SMALL_Z):
            return False
    return True


@compiled()
def _are_same(left, at, right, start, length):  # type: ignore[no-untyped-def]
    for place in range(length):  # noqa: SIM110
        if left[at + place] != right[start + place]:
            return False
    return True


@compiled(inline="always")
def _read_value(data, at, end, node, entry, depth, tree, cells, stack):  # type: ignore[no-untyped-def]
    """Note the value, or go into it: where it ends, and how deep that is."""
    byte = data[at]
    place = tree[node, BASE] + entry if node >= 0 else 0
    takes = tree[node, TAKES] if node >= 0 else -1
    if byte in (_OPEN, _OPEN_LIST):
        return _open(at, byte == _OPEN_LIST, node, entry, depth, tree, cells, stack)
    begin = at
    if byte == _QUOTE:
        begin += 1
        at, escaped = _pass_string(data, begin, end)
        kind, size = (ESCAPED if escaped else STRING), at - 1 - begin
    elif byte == _MINUS or _ZERO <= byte <= _NINE:
        at, kind = _pass_number(data, at, end)
        size = at - begin
    else:
        at, kind = _pass_word(data, at, end)
        size = at - begin
    if at < 0 or (kind != NULL and not takes >> kind & 1):
        return -1, 0
    if node < 0 or kind == NULL:
        return at, depth
    cells[place, KIND], cells[place, BEGIN], cells[place, SIZE] = kind, begin, size
    if tree[node, SHAPE] == INTEGER and not _note_integer(data, begin, size, node, place, tree, cells):
        return -1, 0
    if tree[node, SHAPE] == FLOAT and kind in (WHOLE, FRACTION):
        _note_float(data, begin, size, place, cells)
    return at, depth


@compiled()
def _open(at, is_list, node, entry, depth, tree, cells, stack):  # type: ignore[no-untyped-def]
    """Go into an object or array: one that is wanted, one that is wanted as text, or one that is only passed (-1, an array -2)."""
    if depth >= DEPTH_MAX:
        return -1, 0
    if node >= 0:
        place = tree[node, BASE] + entry
        shape = tree[node, SHAPE]
        if (shape == LIST and is_list) or (shape in (ROW, MAP) and not is_list):
            cells[place, KIND] = THERE
            _push(stack, depth, node, entry, tree)
            return at + 1, depth + 1
        if not tree[node, TAKES] >> NESTED & 1:
            return -1, 0
        _push(stack, depth, -2 if is_list else -1, 0, tree)
        stack[depth, _BEGIN] = place
        cells[place, KIND], cells[place, BEGIN] = NESTED, at
        return at + 1, depth + 1
    _push(stack, depth, -2 if is_list else -1, 0, tree)
    return at + 1, depth + 1


@compiled()
def _pass_space(data, at, end):  # type: ignore[no-untyped-def]
    while at < end and (data[at] == _SPACE or data[at] == 9 or data[at] == 13 or data[at] == 10):
        at += 1
    return at


@compiled()
def _pass_string(data, at, end):  # type: ignore[no-untyped-def]
    """Behind the quote that ends the string, and whether it has escapes; -1 if it is none."""
    escaped = False
    while at < end:
        byte = data[at]
        if byte == _QUOTE:
            return at + 1, escaped
        if byte < _SPACE:
            return -1, escaped
        if byte == _BACKSLASH:
            escaped = True
            at = _pass_escape(data, at + 1, end)
            if at < 0:
                return -1, escaped
        else:
            at += 1
    return -1, escaped


@compiled()
def _pass_escape(data, at, end):  # type: ignore[no-untyped-def]
    """Behind what follows a backslash; -1 for none, and for half of a surrogate pair."""
    if at >= end:
        return -1
    if data[at] != _U:
        for known in _ESCAPES:
            if data[at] == known:
                return at + 1
        return -1
    code = read_hex(data, at + 1, end)
    if code < 0 or 0xDC00 <= code < 0xE000:
        return -1
    if not 0xD800 <= code < 0xDC00:
        return at + 5
    if at + 6 >= end or data[at + 5] != _BACKSLASH or data[at + 6] != _U:
        return -1
    return at + 11 if 0xDC00 <= read_hex(data, at + 7, end) < 0xE000 else -1


@compiled()
def read_hex(data, at, end):  # type: ignore[no-untyped-def]
    """The number that four hexadecimal digits make; -1 if they are none."""
    code = 0
    if at + 4 > end:
        return -1
    for place in range(at, at + 4):
        byte = data[place]
        if _ZERO <= byte <= _NINE:
            code = code * 16 + byte - _ZERO
        elif ord("a") <= byte | 32 <= ord("f"):
            code = code * 16 + (byte | 32) - ord("a") + 10
        else:
            return -1
    return code


@compiled()
def _pass_digits(data, at, end):  # type: ignore[no-untyped-def]
    while at < end and _ZERO <= data[at] <= _NINE:
        at += 1
    return at


@compiled()
def _pass_number(data, at, end):  # type: ignore[no-untyped-def]
    """Behind the number, and WHOLE or FRACTION; -Infinity is a number for this."""
    start = at
    if data[at] == _MINUS:
        at += 1
    digits = _pass_digits(data, at, end)
    if digits == at:
        return _pass_word(data, start, end)
    if data[at] == _ZERO and digits > at + 1:
        return -1, NULL
    at, kind = digits, WHOLE
    if at < end and data[at] == _POINT:
        digits = _pass_digits(data, at + 1, end)
        if digits == at + 1:
            return -1, NULL
        at, kind = digits, FRACTION
    if at < end and (data[at] == _E or data[at] == _SMALL_E):
        at += 1
        if at < end and (data[at] == _MINUS or data[at] == _PLUS):
            at += 1
        digits = _pass_digits(data, at, end)
        if digits == at:
            return -1, NULL
        at, kind = digits, FRACTION
    return at, kind


@compiled()
def _pass_word(data, at, end):  # type: ignore[no-untyped-def]
    """Behind null, true, false, NaN, Infinity or -Infinity, and which that is."""
    for word in range(_WORD_KINDS.size):
        start = _WORD_ENDS[word]
        length = _WORD_ENDS[word + 1] - start
        if at + length <= end and _are_same(data, at, _WORDS, start, length):
            return at + length, _WORD_KINDS[word]
    return -1, NULL


@compiled()
def _note_integer(data, begin, size, node, place, tree, cells):  # type: ignore[no-untyped-def]
    """Put the value in place of its start; False if it is out of bounds."""
    negative = data[begin] == _MINUS
    if size - negative > 19:
        return False
    value = np.uint64(0)
    for at in range(begin + negative, begin + size):
        value = value * np.uint64(10) + np.uint64(data[at] - _ZERO)
    if value > np.uint64(1) << np.uint64(63) or (not negative and value == np.uint64(1) << np.uint64(63)):
        return False
    number = -np.int64(value) if negative else np.int64(value)
    cells[place, BEGIN] = number
    return tree[node, LOW] <= number <= tree[node, HIGH]


@compiled()
def _note_float(data, begin, size, place, cells):  # type: ignore[no-untyped-def]
    """Put the value in place of its start, where one division or multiplication of exact numbers gives it; else it stays a text."""
    at, end = begin, begin + size
    negative = data[at] == _MINUS
    at += negative
    digits, scale, exponent, sign = np.int64(0), 0, 0, 1
    behind = False
    while at < end and data[at] | 32 != _SMALL_E:
        if data[at] == _POINT:
            behind = True
        else:
            digits = digits * 10 + (data[at] - _ZERO)
            scale += behind
            if digits > _EXACT_MAX:
                return
        at += 1
    if at < end:
        at += 1
        if data[at] == _MINUS or data[at] == _PLUS:
            sign = -1 if data[at] == _MINUS else 1
            at += 1
        while at < end and exponent < 1_000:
            exponent = exponent * 10 + (data[at] - _ZERO)
            at += 1
    power = sign * exponent - scale
    if not -22 <= power <= 22:
        return
    value = digits / _TENS[-power] if power < 0 else digits * _TENS[power]
    value = -value if negative and (digits or cells[place, KIND] == FRACTION) else value  # the integer -0 is 0
    cells[place, BEGIN] = np.float64(value).view(np.int64)
    cells[place, KIND] = REAL
