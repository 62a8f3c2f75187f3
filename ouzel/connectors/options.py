"""WITH options: checked when a query is planned, read when a source or sink is opened."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from pathlib import Path

from ouzel.connectors.base import Alias, Connector, Option
from ouzel.connectors.formats import FORMATS
from ouzel.connectors.formats.base import Format
from ouzel.errors import ConnectorError, QueryError
from ouzel.lists import split_list

EPOCH = "timestamp.epoch"
_OF_FLINK = ("csv", "json", "protobuf", "debezium-json", "maxwell-json", "canal-json")
"""Formats that Flink has with `ignore-parse-errors`."""

COMMON: tuple[Option, ...] = (
    Option(
        "bad.record",
        "What becomes of a record that cannot be read: `fail` stops the topology and names the record, `skip` counts it, "
        "`dead-letter` writes it to `dead-letter.path`. Only the columns that a query reads are looked at.",
        default="fail",
        choices=("fail", "skip", "dead-letter"),
        aliases=tuple(Alias(f"{form}.ignore-parse-errors", {"false": "fail"}) for form in _OF_FLINK),
    ),
    Option(
        "dead-letter.path",
        "JSON lines file that bad records go to: `where` they were, the `reason`, and their own bytes as `raw`, or as `raw_base64` where "
        "they are not UTF-8; only with `'bad.record' = 'dead-letter'`.",
    ),
    Option(
        EPOCH,
        "What a whole number in a TIMESTAMP or TIMESTAMP_LTZ column counts since 1970 in UTC: `seconds`, `millis`, `micros` or `nanos`; "
        "without it times are text, or what the format has for them. Such a table is only read.",
        choices=("seconds", "millis", "micros", "nanos"),
    ),
)
"""Options of every table that can be read."""


UPSERT = "changelog.mode"
GONE = "changelog.deleted"
CHANGELOG: tuple[Option, ...] = (
    Option(
        UPSERT,
        "What a record is when the table is read: a row of its own (`append`), or the row that its PRIMARY KEY has from then on, in place "
        "of the one before (`upsert`).",
        default="append",
        choices=("append", "upsert"),
    ),
    Option(
        GONE,
        "The BOOLEAN column that is true in a record which says that its key is gone; only with `'changelog.mode' = 'upsert'`.",
    ),
)
"""Options of every table whose records can replace each other."""


def replaces_by_key(options: Mapping[str, str]) -> bool:
    """Whether each record of the table is in place of the one before it that has its key."""
    return options.get(UPSERT) == "upsert"


def list_options(connector: Connector, options: Mapping[str, str]) -> tuple[Option, ...]:
    """What WITH may hold for this connector, beside 'connector': its own options, its format's, and the common ones."""
    chosen = _format(connector, options)
    return (
        *own_options(connector),
        *(chosen.options if chosen else ()),
        *(COMMON if connector.reads else ()),
    )


def own_options(connector: Connector) -> tuple[Option, ...]:
    """What WITH may hold for this connector, whatever the format."""
    return (*connector.options, *(CHANGELOG if connector.reads and connector.reads.upserts else ()))


def option_of_quoted(connector: Connector, options: Mapping[str, str]) -> str:
    """The option that lists the columns whose names are quoted in the table's definition; empty where that makes no difference."""
    chosen = _format(connector, options)
    return chosen.quoted if chosen else ""


_OTHER_LOGS = frozenset({"ogg-json", "debezium-avro-confluent"})
_INSTEAD_OF_LOG = (
    "have the log written as Debezium, Maxwell or Canal write it: 'debezium-json', 'maxwell-json' or 'canal-json'; "
    "or read it as 'json', with columns for its type and data, each record a row"
)
"""What to write instead of a log of changes of another kind."""


def unit_of_epoch(options: Mapping[str, str]) -> str:
    """The unit of times that are given as numbers; empty if they are given as times."""
    return options.get(EPOCH, "")


def why_unwritable(connector: Connector, options: Mapping[str, str]) -> str:
    """Why a table of this format cannot be written; empty if it can."""
    if EPOCH in options:
        return f"'{EPOCH}' is of tables that are read; declare BIGINT, and write UNIX_MILLIS(time)"
    if options.get("json.timestamp-format.standard") == "ISO-8601":
        return "a TIMESTAMP is written as SQL has it; leave 'json.timestamp-format.standard' out, or write DATE_FORMAT(time, ...)"
    chosen = _format(connector, options)
    if options.get("json.array") == "true":
        return "a file that is one JSON array can only be read"
    if connector.writes and (reason := connector.writes.refuses(options)):
        return reason
    if chosen is not None and chosen.readable_only:
        return f"the format '{chosen.name}' can only be read"
    if (
        chosen is None
        or not chosen.changelog
        or (connector.writes and connector.writes.changes_by == ("format", chosen.name))
    ):
        return ""
    return f"the connector '{connector.name}' can only read the format '{chosen.name}'"


def _format(connector: Connector, options: Mapping[str, str]) -> Format | None:
    shape = next((option for option in connector.options if option.name == "format"), None)
    return FORMATS.get(options.get("format", shape.default or "")) if shape else None


def in_our_names(connector: Connector, options: Mapping[str, str]) -> dict[str, str]:
    """The options with our name and value for each that is written as Flink has it and means the same.

    Raises:
        QueryError: the value means something else here, or the option is given under both names.
    """
    known = [*connector.options, *(option for form in FORMATS.values() for option in form.options), *COMMON]
    ours = {alias.name: (option, alias) for option in known for alias in option.aliases}
    found: dict[str, str] = {}
    for name, value in options.items():
        option, alias = ours.get(name, (None, None))
        if option is None or alias is None:
            found[name] = value
            continue
        if option.name in options:
            raise QueryError(f"'{name}' and '{option.name}' say the same", instead="keep one")
        if alias.values and value not in alias.values:
            advice = f"{_advise_of_choice(value, tuple(alias.values))}, or {ELSEWHERE[name]}"
            raise QueryError(f"'{name}' cannot be '{value}' here", instead=advice)
        found[option.name] = alias.values.get(value, value)
    return found


def check_options(connector: Connector, options: Mapping[str, str]) -> None:
    """See that `options` (WITH, without 'connector') are known, complete and well valued.

    Raises:
        QueryError: an option is unknown (names the nearest), missing, or has a value it cannot have.
    """
    allowed = list_options(connector, options)
    for name, value in options.items():
        option = _find(allowed, name)
        if option is None:
            raise _unknown(connector, allowed, name)
        _check_value(name, value, option)
    for option in allowed:
        if option.required and option.name not in options:
            shown = next((each for each in option.choices if options.get("path", "").endswith(f".{each}")), "...")
            raise QueryError(
                f"the connector '{connector.name}' needs '{option.name}'",
                instead=f"add '{option.name}' = '{shown}' to WITH: {option.doc[0].lower()}{option.doc[1:].rstrip('.')}",
            )
    if "dead-letter.path" in options and options.get("bad.record") != "dead-letter":
        raise QueryError(
            "'dead-letter.path' has no effect here",
            instead="add 'bad.record' = 'dead-letter', or leave it out",
        )
    if options.get("bad.record") == "dead-letter" and "dead-letter.path" not in options:
        raise QueryError("'bad.record' = 'dead-letter' needs 'dead-letter.path'", instead="say which file they go to")
    _check_changelog(connector, options)
    if connector.check:
        connector.check(options)


def _check_changelog(connector: Connector, options: Mapping[str, str]) -> None:
    """See that records which replace each other are no changes already."""
    upserts, form = replaces_by_key(options), _format(connector, options)
    if GONE in options and not upserts:
        raise QueryError(f"'{GONE}' has no effect here", instead=f"add '{UPSERT}' = 'upsert', or leave it out")
    if upserts and form is not None and form.changelog:
        raise QueryError(
            f"'{UPSERT}' = 'upsert' is for records that are rows, and '{form.name}' holds changes",
            instead="leave it out",
        )


def literal_secrets(connector: Connector, options: Mapping[str, str]) -> frozenset[str]:
    """The options that hold a secret as it is, and not where it is to be found."""
    allowed = list_options(connector, options)
    known = {name: _find(allowed, name) for name, value in options.items() if not _SECRET.search(value)}
    return frozenset(name for name, option in known.items() if option is not None and option.secret)


def _find(allowed: Iterable[Option], name: str) -> Option | None:
    return next((option for option in allowed if fnmatchcase(name, option.name)), None)


ELSEWHERE = {
    "scan.startup.mode": "'start' = 'earliest', 'latest', 'committed', 'timestamp' or 'offsets'",
    "scan.startup.specific-offsets": "'start' = 'offsets' and 'start.offsets' = 'topic-0:42'",
    "scan.bounded.mode": "'end' = 'latest', 'timestamp' or 'offsets'",
    "scan.bounded.specific-offsets": "'end' = 'offsets' and 'end.offsets' = 'topic-0:42'",
    "key.fields-prefix": "the name of the column in 'key.fields'",
    **{f"{form}.ignore-parse-errors": "'bad.record' = 'skip'" for form in _OF_FLINK},
    "protobuf.message-class-name": "'protobuf.message' = 'package.Message', and its 'protobuf.descriptor-file'",
    "protobuf.read-default-values": "COALESCE(column, default) in the query",
    "csv.disable-quote-character": "'csv.quote' = '' for none",
    "csv.allow-comments": "'bad.record' = 'skip', for a comment is no record",
    "sink.parallelism": "SET 'parallelism' = '...', or the hint /*+ PARALLELISM('table' = '...') */ in the query",
    "scan.parallelism": "SET 'parallelism' = '...', or the hint /*+ PARALLELISM('table' = '...') */ in the query",
    "sink.delivery-guarantee": "SET 'delivery' = 'effectively-once', 'at-least-once' or 'at-most-once'",
    "scan.watermark.idle-timeout": "IDLE AFTER INTERVAL '30' SECOND behind WATERMARK FOR",
    "source.monitor-interval": "'follow' = 'true'",
    **dict.fromkeys(
        ("mode", "save.mode", "if_exists", "overwrite", "append"),
        "'path' of another folder: a sink adds to what is there",
    ),
}
"""Flink's options that have no option of the same meaning, and what to write here."""


ARGUMENTS_ELSEWHERE = {"delim": "delimiter", "sep": "delimiter", "nullstr": "null", "names": "columns"}
"""What DuckDB and pandas call options of formats, and what they are called here behind the format's name."""

_OF_KSQLDB = {
    "kafka_topic": "topic",
    "value_format": "format",
    "key_format": "key.format",
    "value_delimiter": "csv.delimiter",
}
"""What ksqlDB calls options, in lower case."""

_PLAIN = re.compile("[-_]")
"""What others write where a dot stands in an option's name."""


def _unknown(connector: Connector, allowed: Iterable[Option], name: str) -> QueryError:
    names = [option.name for option in allowed]
    if name in ELSEWHERE:
        return QueryError(
            f"the connector '{connector.name}' has no option '{name}'", instead=f"write {ELSEWHERE[name]}"
        )
    alike = [other for other in names if _PLAIN.sub(".", other.lower()) == _PLAIN.sub(".", name.lower())]
    alike = alike or [other for other in names if other == _OF_KSQLDB.get(name.lower())]
    word = ARGUMENTS_ELSEWHERE.get(name, name)
    alike = alike or [other for other in names if other.rpartition(".")[2] == word]
    near = alike or difflib.get_close_matches(name, names, 2)
    hint = f"did you mean {' or '.join(repr(other) for other in near)}?" if near else f"it takes {', '.join(names)}"
    return QueryError(f"the connector '{connector.name}' has no option '{name}'", instead=hint)


_SAME = {
    "earliest": [
        "earliest-offset",
        "beginning",
        "from-beginning",
        "begin",
        "first",
        "oldest",
        "start",
        "smallest",
        "trim_horizon",
        "all",
    ],
    "latest": ["latest-offset", "end", "from-end", "last", "newest", "largest", "now", "tail"],
    "committed-or-earliest": ["group-offsets", "committed", "group", "stored"],
}
"""What others call where reading begins."""


def _advise_of_choice(value: str, choices: tuple[str, ...]) -> str:
    """What to write instead of a value that is none of these: the one that is meant, if that shows, and all that there are."""
    plain = value.lower()
    if plain in choices:
        return f"write {plain!r}"
    meant = [one for one in choices if plain in _SAME.get(one.removesuffix("-offset"), ())]
    meant = meant or difflib.get_close_matches(plain, choices, 1)
    listed = " or ".join(map(repr, choices))
    return f"write {meant[0]!r}; all that it takes are {listed}" if meant and len(choices) > 1 else f"write {listed}"


def _check_value(name: str, value: str, option: Option) -> None:
    if option.choices and value not in option.choices:
        advice = _INSTEAD_OF_LOG if name == "format" and value in _OTHER_LOGS else ""
        advice = advice or _advise_of_choice(value, option.choices)
        raise QueryError(f"'{name}' cannot be '{value}'", instead=advice)
    try:
        _KINDS[option.kind](value)
    except ValueError:
        raise QueryError(f"'{name}' cannot be '{value}'", instead=f"write {_EXAMPLES[option.kind]}") from None


def _boolean(value: str) -> bool:
    if value not in ("true", "false"):
        raise ValueError(value)
    return value == "true"


def _count(value: str) -> int:
    if not re.fullmatch(r"-?[0-9]+", value):
        raise ValueError(value)
    return int(value)


def timestamp_us(value: str) -> int:
    """Microseconds since the epoch of '2024-01-31 12:00:00' (UTC unless it names a zone), or of a number of milliseconds.

    Raises:
        ValueError: it is neither.
    """
    if value.lstrip("-").isdecimal():
        return int(value) * 1000
    moment = datetime.fromisoformat(value)
    span = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - datetime(1970, 1, 1, tzinfo=UTC)
    return (span.days * 86_400 + span.seconds) * 1_000_000 + span.microseconds


_KINDS: dict[str, Callable[[str], object]] = {
    "text": str,
    "integer": _count,
    "number": float,
    "boolean": _boolean,
    "timestamp": timestamp_us,
}
_EXAMPLES = {
    "integer": "a whole number",
    "number": "a number",
    "boolean": "'true' or 'false'",
    "timestamp": "a time such as '2024-01-31 12:00:00', or milliseconds since 1970",
}


class TableOptions:
    """WITH options of one table, read with the defaults that its connector declares."""

    def __init__(self, connector: Connector, given: Mapping[str, str]) -> None:
        self.given = given
        self._allowed = list_options(connector, given)

    def get(self, name: str) -> str | None:
        """The value as written, or the default, or None."""
        option = _find(self._allowed, name)
        return self.given.get(name, option.default if option else None)

    def text(self, name: str) -> str:
        """The value of an option that has one always; empty if not."""
        return self.get(name) or ""

    def integer(self, name: str) -> int:
        """A whole number; 0 if there is none."""
        return int(self.get(name) or 0)

    def number(self, name: str) -> float:
        """A number; 0 if there is none."""
        return float(self.get(name) or 0)

    def flag(self, name: str) -> bool:
        """Whether it is 'true'."""
        return self.get(name) == "true"

    def names(self, name: str) -> tuple[str, ...]:
        """A list of names separated by commas."""
        return split_list(self.text(name))


_SECRET = re.compile(r"\$\{(env|file):([^}]+)\}")


def resolve_secrets(name: str, value: str) -> str:
    """The value with `${env:NAME}` and `${file:/path}` put in. It must never be shown: messages name only the option.

    Raises:
        ConnectorError: the variable is not set, or the file cannot be read.
    """

    def secret(match: re.Match[str]) -> str:
        kind, where = match.groups()
        try:
            return os.environ[where] if kind == "env" else Path(where).read_text().strip()
        except (KeyError, OSError):
            what = "environment variable" if kind == "env" else "file"
            raise ConnectorError(f"'{name}' takes its value from the {what} {where}, which cannot be read") from None

    return _SECRET.sub(secret, value)
