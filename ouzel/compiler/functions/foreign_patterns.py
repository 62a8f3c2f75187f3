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


def doubt_pattern(pattern: str, read: bool) -> tuple[str, str]:
    """What a pattern says that is hardly meant, and what to write; empty texts if there is nothing.

    `mm` beside the year is minutes, `MM` behind the hour is months, and `hh`, which is not `read`, goes up to 12.
    """
    minutes_in_date = (
        "yy" in pattern and re.search("y.?mm(?!.?s)|mm.?(?:d|y)", pattern) and not re.search("[Hh].?mm", pattern)
    )
    months_in_time = re.search("[Hh]:?MM|MM:?s", pattern)
    if minutes_in_date and "M" not in pattern.replace("MM", "", 1 if months_in_time else 0):
        meant = pattern.replace("mm", "\0").replace("MM", "mm").replace("\0", "MM")
        return f"mm is minutes in the date pattern '{pattern}'", f"write '{meant}' for months"
    if months_in_time:
        at = months_in_time.start() + months_in_time[0].index("MM")
        meant = f"{pattern[:at]}mm{pattern[at + 2 :]}"
        return f"MM is months in the date pattern '{pattern}'", f"write '{meant}' for minutes"
    letters = re.sub("'[^']*'", "", pattern)
    if not read and re.search("hh?", letters) and "a" not in letters and "m" in letters:
        meant = re.sub("hh?", "HH", pattern)
        problem = f"hh goes from 1 to 12 in the date pattern '{pattern}', which says neither AM nor PM"
        return problem, f"write '{meant}' for 0 to 23, or '{pattern} a'"
    return "", ""


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
