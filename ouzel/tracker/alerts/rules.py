"""A file of alerts, in TOML: rules, receivers, and what is silenced. It holds no secret, only where one is."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from ouzel.errors import OuzelError
from ouzel.tracker.alerts.conditions import parse_condition
from ouzel.tracker.alerts.machine import AlertRule, MutedSpan

AlertFields = Mapping[str, Any]


@dataclass(frozen=True)
class SecretPlace:
    """Where a secret stands: in an environment variable, or in a file."""

    variable: str = ""
    file: Path | None = None

    def read(self) -> str:
        """The secret.

        Raises:
            OuzelError: it is not there.
        """
        try:
            return self.file.read_text().strip() if self.file else os.environ[self.variable]
        except KeyError:
            raise OuzelError(f"the environment has no {self.variable}, which the alerts name") from None
        except (OSError, UnicodeDecodeError) as error:
            raise OuzelError(f"{self.file}, which the alerts name, cannot be read: {error}") from error


@dataclass(frozen=True)
class Webhook:
    """An address that is sent JSON; the whole of it, or nothing of it, is a secret."""

    url: str | SecretPlace


@dataclass(frozen=True)
class Mail:
    """A server for mail, who writes, and to whom."""

    server: str
    sender: str
    to: tuple[str, ...]
    user: str = ""
    password: SecretPlace | None = None
    starttls: bool = False


@dataclass(frozen=True)
class RunCommand:
    """A command, which gets the notice as JSON on its standard input."""

    words: tuple[str, ...]


Receiver = Webhook | Mail | RunCommand


@dataclass(frozen=True)
class AlertFile:
    """What such a file says."""

    rules: tuple[AlertRule, ...]
    receivers: Mapping[str, Receiver]
    muted: tuple[MutedSpan, ...]


def read_alert_file(path: Path) -> AlertFile:
    """The alerts of a file.

    Raises:
        OuzelError: it cannot be read, or something in it is wrong.
    """
    try:
        content = tomllib.loads(path.read_text())
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise OuzelError(f"{path} cannot be read: {error}") from error
    try:
        return parse_alerts(content, path.parent)
    except OuzelError as error:
        raise OuzelError(f"{path}: {error}") from None


def parse_alerts(content: AlertFields, folder: Path) -> AlertFile:
    """The alerts of what was read; files that it names are relative to the folder.

    Raises:
        OuzelError: something in it is wrong.
    """
    _only(content, {"alert", "receiver", "silence"}, "the file")
    receivers = {name: _receiver(name, fields, folder) for name, fields in _table(content, "receiver").items()}
    rules = tuple(_rule(fields, receivers) for fields in _list(content, "alert"))
    if not rules:
        raise OuzelError(
            "it has no alert; write [[alert]] and below it when = 'lag > 1 min for 5 min' and tell = ['NAME']"
        )
    names = [rule.name for rule in rules]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise OuzelError(f"two alerts are named '{twice}'; give one another name")
    return AlertFile(rules, receivers, tuple(_read_silence(fields) for fields in _list(content, "silence")))


def _rule(fields: AlertFields, receivers: Mapping[str, Receiver]) -> AlertRule:
    _only(fields, {"name", "when", "topologies", "tell"}, "[[alert]]")
    when, tell = _text(fields, "when", "[[alert]]"), _texts(fields, "tell", "[[alert]]")
    for name in tell:
        if name not in receivers:
            raise OuzelError(f"the alert '{when}' tells '{name}', which is no receiver; write [receiver.{name}]")
    return AlertRule(str(fields.get("name", when)), parse_condition(when), str(fields.get("topologies", "*")), tell)


def _receiver(name: str, fields: object, folder: Path) -> Receiver:
    where = f"[receiver.{name}]"
    if not isinstance(fields, Mapping):
        raise OuzelError(f"{where} is no table; write webhook, email or command below it")
    kinds = [make for key, make in _KINDS.items() if key in fields]
    if len(kinds) != 1:
        raise OuzelError(f"{where} must say one of {', '.join(_KINDS)}")
    return kinds[0](fields, where, folder)


def _webhook(fields: AlertFields, where: str, folder: Path) -> Webhook:
    _only(fields, {"webhook", "webhook_env", "webhook_file"}, where)
    if (secret := _secret(fields, "webhook", folder)) is not None:
        return Webhook(secret)
    url = _text(fields, "webhook", where)
    check_webhook_url(url, where)
    if urlsplit(url).password:
        raise OuzelError(f"{where} holds a password; put the address into a file, and write webhook_file = 'FILE'")
    return Webhook(url)


def check_webhook_url(url: str, where: str) -> None:
    """Refuse what is no address of a web server. It is not shown: it may be a secret.

    Raises:
        OuzelError: it is none.
    """
    try:
        parts = urlsplit(url)
        is_good = parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        is_good = False
    if not is_good:
        raise OuzelError(f"the webhook of {where} is no address; write http://… or https://…")


def _mail(fields: AlertFields, where: str, folder: Path) -> Mail:
    if "password" in fields:
        raise OuzelError(f"{where} holds a password; write password_env = 'VARIABLE' or password_file = 'FILE'")
    _only(fields, {"email", "from", "server", "user", "password_env", "password_file", "starttls"}, where)
    return Mail(
        _text(fields, "server", where),
        _text(fields, "from", where),
        _texts(fields, "email", where),
        str(fields.get("user", "")),
        _secret(fields, "password", folder),
        fields.get("starttls") is True,
    )


def _command(fields: AlertFields, where: str, _folder: Path) -> RunCommand:
    _only(fields, {"command"}, where)
    return RunCommand(_texts(fields, "command", where))


def _secret(fields: AlertFields, key: str, folder: Path) -> SecretPlace | None:
    if f"{key}_env" in fields:
        return SecretPlace(variable=str(fields[f"{key}_env"]))
    return SecretPlace(file=folder / str(fields[f"{key}_file"])) if f"{key}_file" in fields else None


_KINDS: Mapping[str, Callable[[AlertFields, str, Path], Receiver]] = {
    "webhook": _webhook,
    "webhook_env": _webhook,
    "webhook_file": _webhook,
    "email": _mail,
    "command": _command,
}
"""Of each kind of receiver what makes it, by the key that it must have."""


def _read_silence(fields: AlertFields) -> MutedSpan:
    _only(fields, {"alert", "topologies", "until"}, "[[silence]]")
    until = fields.get("until")
    if not isinstance(until, datetime):
        raise OuzelError("[[silence]] has no end; write until = 2026-01-31T12:00:00Z")
    until = until if until.tzinfo else until.replace(tzinfo=UTC)
    return MutedSpan(str(fields.get("alert", "*")), str(fields.get("topologies", "*")), until.timestamp())


def _only(fields: AlertFields, known: set[str], where: str) -> None:
    if strange := sorted(set(fields) - known):
        raise OuzelError(f"{where} has '{strange[0]}', which means nothing; write one of {', '.join(sorted(known))}")


def _list(content: AlertFields, key: str) -> list[AlertFields]:
    found = content.get(key, [])
    if not isinstance(found, list) or not all(isinstance(one, Mapping) for one in found):
        raise OuzelError(f"'{key}' is no list of tables; write [[{key}]]")
    return found


def _table(content: AlertFields, key: str) -> AlertFields:
    found = content.get(key, {})
    if not isinstance(found, Mapping):
        raise OuzelError(f"'{key}' is no table; write [{key}.NAME]")
    return found


def _text(fields: AlertFields, key: str, where: str) -> str:
    found = fields.get(key)
    if not isinstance(found, str) or not found:
        raise OuzelError(f"{where} has no '{key}', which is a text; write {key} = '…'")
    return found


def _texts(fields: AlertFields, key: str, where: str) -> tuple[str, ...]:
    found = fields.get(key)
    if not isinstance(found, list) or not found or not all(isinstance(one, str) and one for one in found):
        raise OuzelError(f"{where} has no '{key}', which is a list of texts; write {key} = ['…']")
    return tuple(found)
