"""Where `ouzel alerts` keeps what was told, so that it goes on where it was killed: `alerts.json` in OUZEL_HOME."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ouzel.errors import OuzelError
from ouzel.files import put_bytes
from ouzel.tracker.alerts.machine import AlertKey, AlertNotice, RuleStanding
from ouzel.tracker.asides import list_asides

FILE = "alerts.json"

Errand = tuple[AlertNotice, str]
"""A notice, and the receiver that is to be told."""


@dataclass(frozen=True)
class AlertMemory:
    """How each rule stands for each topology, and what waits to be told."""

    standing: Mapping[AlertKey, RuleStanding]
    waiting: tuple[Errand, ...]


def load_alerts(path: Path) -> AlertMemory:
    """What was kept; nothing if the file is not there.

    Raises:
        ValueError: the file is damaged: what it held is not known.
        OuzelError: it cannot be read now.
    """
    try:
        return _parse(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return AlertMemory({}, ())
    except OSError as error:
        raise OuzelError(
            f"what was told cannot be read in {path}: {error.strerror}; nobody is told anything until it can"
        ) from error


def store_alerts(path: Path, standing: Mapping[AlertKey, RuleStanding], waiting: Iterable[Errand]) -> None:
    """Keep that.

    Raises:
        OSError: there is no room for it.
    """
    kept = {
        "standing": [(*key, asdict(value)) for key, value in standing.items()],
        "waiting": [(asdict(notice), name) for notice, name in waiting],
    }
    put_bytes(path, json.dumps(kept).encode())


def describe_alert_memory(home: Path) -> list[str]:
    """What people are told of damage to that file, a sentence each."""
    path = home / FILE
    told = [describe_lost_alerts(one) for one in list_asides(path)]
    try:
        load_alerts(path)
    except ValueError as error:
        told.append(f"{path} is damaged, and which alerts were told is not known: {error}")
    except OuzelError as error:
        told.append(str(error))
    return told


def describe_lost_alerts(path: Path) -> str:
    """What people are told of a damaged file that was set aside, as long as it is there."""
    return (
        f"which alerts were told before is in {path}, which is damaged: what still holds was told again, and of what had ended by then no "
        "end was told; remove that file when you have looked at it"
    )


def _parse(text: str) -> AlertMemory:
    try:
        kept: Mapping[str, Any] = json.loads(text)
        standing = {(str(rule), str(topology)): _standing(fields) for rule, topology, fields in kept["standing"]}
        return AlertMemory(standing, tuple((_notice(fields), str(name)) for fields, name in kept["waiting"]))
    except (TypeError, KeyError, AttributeError, RecursionError) as error:
        raise ValueError(f"it is no memory of alerts: {type(error).__name__}: {error}") from error


def _standing(fields: Mapping[str, Any]) -> RuleStanding:
    return RuleStanding(_time(fields["since_s"]), fields["is_told"] is True)


def _notice(fields: Mapping[str, Any]) -> AlertNotice:
    return AlertNotice(
        rule=str(fields["rule"]),
        topology=str(fields["topology"]),
        condition=str(fields["condition"]),
        fires=fields["fires"] is True,
        since_s=_time(fields["since_s"]),
        receivers=tuple(map(str, fields["receivers"])),
    )


def _time(value: object) -> float:
    if not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError(f"{value!r} is no time")
    return float(value)
