"""Date patterns of other systems, strftime's and Oracle's, as the Java patterns that mean the same."""

from __future__ import annotations

import re

_PERCENT = {
    "Y": "yyyy", "y": "yy", "m": "MM", "c": "M", "d": "dd", "e": "d", "j": "DDD", "H": "HH", "k": "H", "h": "hh", "I": "hh", "l": "h",
    "i": "mm", "s": "ss", "S": "ss", "f": "SSSSSS", "p": "a", "b": "MMM", "a": "E", "A": "EEEE", "W": "EEEE", "B": "MMMM",
    "T": "HH:mm:ss", "F": "yyyy-MM-dd", "%": "%",
}  # fmt: skip
_WORDS = {
    "YYYY": "yyyy", "yyyy": "yyyy", "YY": "yy", "MONTH": "MMMM", "Month": "MMMM", "MON": "MMM", "Mon": "MMM", "MMMM": "MMMM", "MMM": "MMM",
    "MM": "MM", "DDD": "DDD", "DD": "dd", "dd": "dd",
    "HH24": "HH", "HH12": "hh", "HH": "HH", "hh": "hh", "MI": "mm", "mm": "mm", "SS": "ss",
    "ss": "ss", "MS": "SSS", "FF3": "SSS", "FF6": "SSSSSS", "US": "SSSSSS", "SSS": "SSS", "AM": "a", "PM": "a", "DY": "E", "Dy": "E",
    "DAY": "EEEE", "Day": "EEEE",
}  # fmt: skip
"""Oracle's and PostgreSQL's words, and those of Java that stand between them."""
_WORD = re.compile("|".join(sorted(_WORDS, key=len, reverse=True)))
_ORACLE = re.compile("YYYY|DD|HH24|MI|SS")


def java_pattern(pattern: str, oracle: bool = False) -> str:
    """The pattern in Java's letters, or an empty text if it is none of the other systems, or cannot be said so.

    With `oracle` the words are read in any case, as TO_CHAR reads them.
    """
    if "%" in pattern:
        return _of_percents(pattern)
    if oracle and not re.search("[A-Z]", pattern):
        pattern = pattern.upper()
    return _of_words(pattern) if oracle or _ORACLE.search(pattern) else ""


def mean_months(pattern: str) -> str:
    """The pattern with MM for the mm that stands beside the year and is meant as months; empty if it has none."""
    if "M" in pattern or "yy" not in pattern or re.search("[Hh].?mm", pattern):
        return ""
    return pattern.replace("mm", "MM", 1) if re.search("y.?mm|mm.?(?:d|y)", pattern) else ""


def _of_percents(pattern: str) -> str:
    """`%M` is the name of the month beside MySQL's `%i`, and the minutes elsewhere."""
    letters = _PERCENT | {"M": "MMMM" if "%i" in pattern or not re.search("%[HIk]", pattern) else "mm"}
    parts = re.findall(r"%-?(.)|([A-Za-z]+)|([^%A-Za-z]+)", pattern)
    if any(code and code not in letters for code, _, _ in parts):
        return ""
    return "".join(letters[code] if code else f"''{text}''" if text else other for code, text, other in parts)


def _of_words(pattern: str) -> str:
    """Text in double quotes stands as it is; a word that is not known makes all of it unknown."""
    out, rest = "", pattern
    while rest:
        if found := re.match(r'"([^"]*)"|\'([^\']*)\'', rest):
            out += f"''{found[1] or found[2]}''"
        elif word := _WORD.match(rest):
            found, out = word, out + _WORDS[word[0]]
        elif found := re.match(r"[^A-Za-z\"']", rest):
            out += found[0]
        elif found := re.match("T(?=HH)", rest):
            out += "''T''"
        else:
            return ""
        rest = rest[found.end() :]
    return out
