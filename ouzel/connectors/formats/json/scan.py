"""JSON records read once, byte by byte, into columns of places: where each wanted value stands. Loops compiled by Numba.

A tree of nodes says what is wanted: the record itself is node 0, an object; a ROW has a node for each field, an ARRAY one for its elements,
a MAP one for its keys and one for its values. Each ARRAY and MAP opens a dimension: its elements of all records stand side by side, and the
nodes below have an entry for each. Dimension 0 are the records. A record that is not JSON, does not fit, or is merely odd (a field that
comes twice, be it in another case, a key of a MAP with escapes) is left out as a whole: who asked looks at it by itself.
"""

from __future__ import annotations

import numpy as np

from ouzel.connectors.formats.compiled import compiled
from ouzel.connectors.formats.json.escapes import pass_escape, unescape
from ouzel.connectors.formats.wide import WIDTH, plain_bytes_at, word_at

DEPTH_MAX = 500
"""How deep objects and arrays may stand in each other."""

NULL, STRING, ESCAPED, WHOLE, FRACTION, TRUE, FALSE, CONSTANT, NESTED, REAL, THERE, SAID_NULL = range(12)
"""What an entry is: REAL is a float whose bits are in place of its start, THERE an object or array that is read, SAID_NULL one of which
only the name has been read, or null behind it."""

ROW, MAP, LIST, INTEGER, FLOAT, LEAF = range(6)
"""What a node is: of an INTEGER the value is in place of its start."""

_QUOTE, _BACKSLASH, _COMMA, _COLON, _SPACE = map(ord, '"\\,: ')
_OPEN, _CLOSE, _OPEN_LIST, _CLOSE_LIST = map(ord, "{}[]")
_MINUS, _PLUS, _POINT, _ZERO, _NINE, _E, _SMALL_E = map(ord, "-+.09Ee")
_NODE, _ENTRY, _SEEN, _GUESS, _BEGIN = range(5)
_WORDS = np.frombuffer(b"nulltruefalseNaNInfinity-Infinity", np.uint8)
_WORD_ENDS = np.array([0, 4, 8, 13, 16, 24, 33])
_WORD_KINDS = np.array([NULL, TRUE, FALSE, CONSTANT, CONSTANT, CONSTANT])
_TENS = 10.0 ** np.arange(23)
_EXACT_MAX = 1 << 53
_KEYS_MAX = 64
_CASE_BIT, _SMALL_A, _SMALL_Z = 32, ord("a"), ord("z")


SHAPE, TAKES, FIRST, LAST, INNER, LOW, HIGH, NAME_AT, NAME_END, DIMENSION, ANY_CASE, WORDS_AT, WORDS_END, BASE = range(
    14
)
"""Columns of the tree, a row for each node. TAKES has bits: 1 << kind. Children follow each other from FIRST to before LAST; INNER is the
dimension that an ARRAY or MAP opens; LOW and HIGH bound an INTEGER; ANY_CASE is 1 where a name in another case will do; what is mostly
written before the value of a field (`"name":`) are the `words` from WORDS_AT to before WORDS_END, with a mask each; entry e of the node is
cell BASE + e of `kinds`, `begins` and `sizes`."""

COUNT, ROW_BASE, SAVED = range(3)
"""Columns of the dimensions: how many entries there are; `rows` says from ROW_BASE on which row each belongs to; the count before the last
record."""

STACK_SHAPE = (DEPTH_MAX + 1, 5)
NAME_MAX = 256
"""How long a name with escapes may be."""


@compiled()
def count_elements(data):  # type: ignore[no-untyped-def]
    """How many elements all arrays and objects have together, at most."""
    count = 1
    for byte in data:
        count += byte in (_COMMA, _OPEN, _OPEN_LIST)
    return count


@compiled()
def scan(data, starts, ends, tree, names, words, kinds, begins, sizes, sides, rows, stack, name, good):  # type: ignore[no-untyped-def]
    """Read all records; returns how many are rows now, whose indices are in `good`. `sides` are the dimensions, `stack` and `name` are
    room for work."""
    for record in range(starts.size):
        for side in range(len(sides)):
            sides[side, SAVED] = sides[side, COUNT]
        row, end = sides[0, COUNT], ends[record]
        good[row] = record
        sides[0, COUNT] = row + 1
        at, depth = _open_record(data, starts[record], end, row, tree, stack)
        while depth > 0:
            at, depth = _read_member(
                data, at, end, depth, row, tree, names, words, kinds, begins, sizes, sides, rows, stack, name
            )
        if at < 0 or _pass_space(data, at, end) != end:
            _take_back(tree, kinds, sides)
    return sides[0, COUNT]


@compiled(inline=True)
def _take_back(tree, kinds, sides):  # type: ignore[no-untyped-def]
    """Forget what was noted of the record."""
    for node in range(len(tree)):
        base, of = tree[node, BASE], tree[node, DIMENSION]
        for entry in range(sides[of, SAVED], sides[of, COUNT]):
            kinds[base + entry] = NULL
    for side in range(len(sides)):
        sides[side, COUNT] = sides[side, SAVED]


@compiled(inline=True)
def _open_record(data, at, end, row, tree, stack):  # type: ignore[no-untyped-def]
    at = _pass_space(data, at, end)
    if at >= end or data[at] != _OPEN:
        return -1, 0
    _push(stack, 0, 0, row, tree)
    return at + 1, 1


@compiled(inline=True)
def _push(stack, depth, node, entry, tree):  # type: ignore[no-untyped-def]
    stack[depth, _NODE] = node
    stack[depth, _ENTRY] = entry
    stack[depth, _SEEN] = 0
    stack[depth, _GUESS] = tree[node, FIRST] if node >= 0 else 0
    stack[depth, _BEGIN] = -1


@compiled(inline=True)
def _read_member(data, at, end, depth, row, tree, names, words, kinds, begins, sizes, sides, rows, stack, name):  # type: ignore[no-untyped-def]
    """Read the next member of the innermost object or array, or its end; a negative place says that it cannot be."""
    top = depth - 1
    node = stack[top, _NODE]
    is_list = node == -2 or (node >= 0 and tree[node, SHAPE] == LIST)
    at = _pass_space(data, at, end)
    if at < end and data[at] == (_CLOSE_LIST if is_list else _CLOSE):
        _close(at + 1, top, tree, begins, sizes, stack)
        return at + 1, top
    if stack[top, _SEEN] > 0:
        if at >= end or data[at] != _COMMA:
            return -1, 0
        at = _pass_space(data, at + 1, end)
    stack[top, _SEEN] += 1
    child, entry = -1, 0
    if not is_list:
        at, child, entry = _read_name(
            data, at, end, top, row, tree, names, words, kinds, begins, sizes, sides, rows, stack, name
        )
        if at < 0:
            return -1, 0
    elif node >= 0:
        child, entry = tree[node, FIRST], _append(tree[node, INNER], row, sides, rows)
    if at >= end:
        return -1, 0
    return _read_value(data, at, end, child, entry, depth, tree, kinds, begins, sizes, stack)


@compiled(inline=True)
def _close(at, top, tree, begins, sizes, stack):  # type: ignore[no-untyped-def]
    node = stack[top, _NODE]
    if node >= 0 and tree[node, SHAPE] != ROW:
        sizes[tree[node, BASE] + stack[top, _ENTRY]] = stack[top, _SEEN]
    elif node < 0 and stack[top, _BEGIN] >= 0:
        place = stack[top, _BEGIN]
        sizes[place] = at - begins[place]


@compiled(inline=True)
def _append(dimension, row, sides, rows):  # type: ignore[no-untyped-def]
    entry = sides[dimension, COUNT]
    sides[dimension, COUNT] = entry + 1
    rows[sides[dimension, ROW_BASE] + entry] = row
    return entry


@compiled(inline=True)
def _read_name(data, at, end, top, row, tree, names, words, kinds, begins, sizes, sides, rows, stack, name):  # type: ignore[no-untyped-def]
    """The name of a member and the colon behind: where its value begins, and which entry of which node that is."""
    node, guess = stack[top, _NODE], stack[top, _GUESS]
    if node >= 0 and _stands_at(data, at, end, guess, tree, words):
        place = tree[guess, BASE] + stack[top, _ENTRY]
        if kinds[place] != NULL:
            return -1, 0, 0
        kinds[place] = SAID_NULL
        stack[top, _GUESS] = guess + 1 if guess + 1 < tree[node, LAST] else tree[node, FIRST]
        at += tree[guess, NAME_END] - tree[guess, NAME_AT] + 3
        return _pass_space(data, at, end), guess, stack[top, _ENTRY]
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
    entry = stack[top, _ENTRY]
    if node < 0:
        return at, -1, 0
    if tree[node, SHAPE] == MAP:
        count = stack[top, _SEEN]
        entry = _append(tree[node, INNER], row, sides, rows)
        key = tree[tree[node, FIRST], BASE] + entry
        if escaped or count > _KEYS_MAX or _is_known(data, begin, length, key, count - 1, begins, sizes):
            return -1, 0, 0
        kinds[key], begins[key], sizes[key] = STRING, begin, length
        return at, tree[node, FIRST] + 1, entry
    if not escaped:
        child = _find_any(data, begin, length, guess, node, tree, names)
    elif length <= name.size:
        child = _find_any(name, 0, unescape(data, begin, begin + length, name, 0), guess, node, tree, names)
    else:
        return -1, 0, 0
    if child < 0:
        return at, child, entry
    stack[top, _GUESS] = child + 1 if child + 1 < tree[node, LAST] else tree[node, FIRST]
    place = tree[child, BASE] + entry
    if kinds[place] != NULL:
        return -1, 0, 0
    kinds[place] = SAID_NULL
    return at, child, entry


@compiled(inline=True)
def _stands_at(data, at, end, child, tree, words):  # type: ignore[no-untyped-def]
    """Whether the name of this field stands here as it is mostly written."""
    first, last = tree[child, WORDS_AT], tree[child, WORDS_END]
    if first == last or at + 8 * (last - first) > min(end, data.size):
        return False
    for word in range(first, last):  # noqa: SIM110
        if (word_at(data, at + 8 * (word - first)) ^ words[word, 0]) & words[word, 1]:
            return False
    return True


@compiled(inline=True)
def _is_known(data, begin, length, place, count, begins, sizes):  # type: ignore[no-untyped-def]
    """Whether one of the last keys is the same."""
    for other in range(place - count, place):  # noqa: SIM110
        if sizes[other] == length and _are_same(data, begin, data, begins[other], length):
            return True
    return False


@compiled(inline=True)
def _find_any(data, begin, length, guess, node, tree, names):  # type: ignore[no-untyped-def]
    """The field of this name, or else the one whose name is this one but for its case; -1 if none."""
    child = _find(data, begin, length, guess, node, tree, names)
    return child if child >= 0 else _find_other(data, begin, length, node, tree, names)


@compiled(inline=True)
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


@compiled(inline=True)
def _find_other(data, begin, length, node, tree, names):  # type: ignore[no-untyped-def]
    """The field whose name is this one but for its case; -1 if none."""
    for child in range(tree[node, FIRST], tree[node, LAST]):
        start = tree[child, NAME_AT]
        is_asked = tree[child, ANY_CASE] and tree[child, NAME_END] - start == length
        if is_asked and _differ_in_case(data, begin, names, start, length):
            return child
    return -1


@compiled(inline=True)
def _differ_in_case(left, at, right, start, length):  # type: ignore[no-untyped-def]
    for place in range(length):
        one, other = left[at + place], right[start + place]
        if one != other and (one ^ other != _CASE_BIT or not _SMALL_A <= one | _CASE_BIT <= _SMALL_Z):
            return False
    return True


@compiled(inline=True)
def _are_same(left, at, right, start, length):  # type: ignore[no-untyped-def]
    for place in range(length):  # noqa: SIM110
        if left[at + place] != right[start + place]:
            return False
    return True


@compiled(inline=True)
def _read_value(data, at, end, node, entry, depth, tree, kinds, begins, sizes, stack):  # type: ignore[no-untyped-def]
    """Note the value, or go into it: where it ends, and how deep that is."""
    byte = data[at]
    place = tree[node, BASE] + entry if node >= 0 else 0
    takes = tree[node, TAKES] if node >= 0 else -1
    if byte in (_OPEN, _OPEN_LIST):
        return _open(at, byte == _OPEN_LIST, node, entry, depth, tree, kinds, begins, sizes, stack)
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
    kinds[place], begins[place], sizes[place] = kind, begin, size
    if tree[node, SHAPE] == INTEGER and not _note_integer(data, begin, size, node, place, tree, begins):
        return -1, 0
    if tree[node, SHAPE] == FLOAT and kind in (WHOLE, FRACTION):
        _note_float(data, begin, size, place, kinds, begins)
    return at, depth


@compiled(inline=True)
def _open(at, is_list, node, entry, depth, tree, kinds, begins, sizes, stack):  # type: ignore[no-untyped-def]
    """Go into an object or array: one that is wanted, one that is wanted as text, or one that is only passed (-1, an array -2)."""
    if depth >= DEPTH_MAX:
        return -1, 0
    if node >= 0:
        place = tree[node, BASE] + entry
        shape = tree[node, SHAPE]
        if (shape == LIST and is_list) or (shape in (ROW, MAP) and not is_list):
            kinds[place] = THERE
            _push(stack, depth, node, entry, tree)
            return at + 1, depth + 1
        if not tree[node, TAKES] >> NESTED & 1:
            return -1, 0
        _push(stack, depth, -2 if is_list else -1, 0, tree)
        stack[depth, _BEGIN] = place
        kinds[place], begins[place] = NESTED, at
        return at + 1, depth + 1
    _push(stack, depth, -2 if is_list else -1, 0, tree)
    return at + 1, depth + 1


@compiled(inline=True)
def _pass_space(data, at, end):  # type: ignore[no-untyped-def]
    while at < end and (data[at] == _SPACE or data[at] == 9 or data[at] == 13 or data[at] == 10):
        at += 1
    return at


@compiled(inline=True)
def _pass_string(data, at, end):  # type: ignore[no-untyped-def]
    """Behind the quote that ends the string, and whether it has escapes; -1 if it is none."""
    escaped = False
    while at < end:
        if at + WIDTH <= data.size:
            passed = plain_bytes_at(data, at)
            at += passed
            if passed == WIDTH:
                continue
            if at >= end:
                break
        byte = data[at]
        if byte == _QUOTE:
            return at + 1, escaped
        if byte < _SPACE:
            return -1, escaped
        if byte == _BACKSLASH:
            escaped = True
            at = pass_escape(data, at + 1, end)
            if at < 0:
                return -1, escaped
        else:
            at += 1
    return -1, escaped


@compiled(inline=True)
def _pass_digits(data, at, end):  # type: ignore[no-untyped-def]
    while at < end and _ZERO <= data[at] <= _NINE:
        at += 1
    return at


@compiled(inline=True)
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


@compiled(inline=True)
def _pass_word(data, at, end):  # type: ignore[no-untyped-def]
    """Behind null, true, false, NaN, Infinity or -Infinity, and which that is."""
    for word in range(_WORD_KINDS.size):
        start = _WORD_ENDS[word]
        length = _WORD_ENDS[word + 1] - start
        if at + length <= end and _are_same(data, at, _WORDS, start, length):
            return at + length, _WORD_KINDS[word]
    return -1, NULL


@compiled(inline=True)
def _note_integer(data, begin, size, node, place, tree, begins):  # type: ignore[no-untyped-def]
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
    begins[place] = number
    return tree[node, LOW] <= number <= tree[node, HIGH]


@compiled(inline=True)
def _note_float(data, begin, size, place, kinds, begins):  # type: ignore[no-untyped-def]
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
    value = -value if negative and (digits or kinds[place] == FRACTION) else value  # the integer -0 is 0
    begins[place] = np.float64(value).view(np.int64)
    kinds[place] = REAL
