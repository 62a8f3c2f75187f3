"""What a client of Heron's tracker asks is answered: each of its calls, as the URL that it makes of it, and each query of its pages.

The calls, their paths, parameters and queries are those of heron/tools/common/src/python/clients/tracker.py (Heron 0.20), which no registry
of packages has: it is part of Heron's own builds. It leaves out a parameter that is None, and repeats one that is a list, as requests does.
"""

from __future__ import annotations

import time
from typing import Any
from urllib.parse import urlencode

import pytest

from tests.servers.waiting import wait_until
from tests.tracker.conftest import ROWS, Tracked

pytestmark = pytest.mark.server

SPOUT, BOLT = "container_1_lines_1", "container_1_count_by_key_2"

OF_TOPOLOGY = {
    "get_execution_state": "executionstate",
    "get_logical_plan": "logicalplan",
    "get_packing_plan": "packingplan",
    "get_physical_plan": "physicalplan",
    "get_scheduler_location": "schedulerlocation",
    "get_topology_info": "info",
}
OF_INSTANCE = {"get_instance_pid": "pid", "get_instance_jstack": "jstack"}
OF_COMPONENT = {"get_component_exceptionsummary": "exceptionsummary", "get_component_exceptions": "exceptions"}

QUERIES = {
    "cpu": "DEFAULT(0,TS({0},{1},__jvm-process-cpu-load))",
    "capacity": "DIVIDE(DEFAULT(0,MULTIPLY(TS({0},{1},__execute-count/default),TS({0},{1},__execute-latency/default))),60000000000)",
    "failures": "DEFAULT(0,DIVIDE(TS({0},{1},__fail-count/default),"
    "SUM(DEFAULT(1,TS({0},{1},__execute-count/default)),DEFAULT(0,TS({0},{1},__fail-count/default)))))",
    "memory": "DIVIDE(DEFAULT(0,TS({0},{1},__jvm-memory-used-mb)),DEFAULT(1,TS({0},{1},__jvm-memory-mb-total)))",
    "gc": "RATE(TS({0},{1},__jvm-gc-collection-time-ms))",
}
"""What its pages ask for each component (0) and instance (1)."""

METRICS = [
    *(
        f"__{name}"
        for name in (
            "complete-latency",
            "execute-latency",
            "jvm-uptime-secs",
            "jvm-process-cpu-load",
            "jvm-memory-used-mb",
        )
    ),
    *(f"__{name}/default" for name in ("emit-count", "execute-count", "ack-count", "fail-count")),
]
"""What its command line asks of a component; `__process-latency` is left out, for there is none here."""


def ask(tracked: Tracked, route: str, **parameters: object) -> Any:
    """What the tracker answers to the URL that the client makes."""
    whose = {"cluster": "local", "environ": "default", "topology": tracked.name, "role": None}
    given = {name: value for name, value in (whose | parameters).items() if value is not None}
    answer = tracked.client.get(f"/topologies/{route}?{urlencode(given, doseq=True)}")
    assert answer.status_code == 200, answer.text
    return answer.json()


def query(tracked: Tracked, text: str) -> list[dict[str, Any]]:
    """The lines that answer a query over the last hour."""
    now = int(time.time())
    found = ask(tracked, "metrics/query", starttime=now - 3_600, endtime=now, query=text)
    return found["timeline"]  # type: ignore[no-any-return]


def largest(tracked: Tracked, text: str) -> float:
    """The largest value of the one line that answers a query."""
    (line,) = query(tracked, text)
    return max(line["data"].values(), default=0)


def test_lists(tracked: Tracked) -> None:
    assert tracked.client.get("/clusters").json() == ["local"]
    assert tracked.client.get("/topologies").json() == {"local": {tracked.user: {"default": [tracked.name]}}}
    assert tracked.client.get("/topologies/states").json()["local"]["default"][tracked.name]["status"] == "RUNNING"


@pytest.mark.parametrize("role", [None, "the user"])
@pytest.mark.parametrize("path", OF_TOPOLOGY.values(), ids=OF_TOPOLOGY)
def test_calls_of_a_topology(tracked: Tracked, path: str, role: str | None) -> None:
    assert ask(tracked, path, role=role and tracked.user)


def test_what_it_makes_of_plans(tracked: Tracked) -> None:
    logical = ask(tracked, "logicalplan")
    assert sorted(logical["spouts"].keys() | logical["bolts"].keys()) == ["count_by_key", "lines"]
    assert sorted(ask(tracked, "physicalplan")["instances"]) == [BOLT, SPOUT]


@pytest.mark.parametrize("path", OF_COMPONENT.values(), ids=OF_COMPONENT)
def test_calls_of_a_component(tracked: Tracked, path: str) -> None:
    assert ask(tracked, path, component="lines") == []


@pytest.mark.parametrize("path", OF_INSTANCE.values(), ids=OF_INSTANCE)
def test_calls_of_an_instance(tracked: Tracked, path: str) -> None:
    assert ask(tracked, path, instance=BOLT)["stdout"]


def test_calls_of_files(tracked: Tracked) -> None:
    log = {"container": "1", "path": "instance-1.log"}
    assert "instance-1.log" in ask(tracked, "container/filestats", container="1", path=".")
    data = ask(tracked, "container/filedata", **log, offset=0, length=20)["data"]
    where = urlencode({"cluster": "local", "environ": "default", "topology": tracked.name, **log})
    assert tracked.client.get(f"/topologies/container/filedownload?{where}").text.startswith(data)


def test_metrics_of_a_component(tracked: Tracked) -> None:
    asked = {"component": "lines", "metricname": METRICS, "instance": [SPOUT], "interval": -1}
    wait_until(lambda: ask(tracked, "metrics", **asked)["metrics"]["__jvm-process-cpu-load"])  # by the second sample
    found = ask(tracked, "metrics", **asked)["metrics"]
    assert found["__execute-count/default"] == {SPOUT: str(ROWS)}
    told = {name for name in METRICS if SPOUT in found[name]}
    assert told == set(METRICS)
    assert float(found["__jvm-uptime-secs"][SPOUT]) > 0
    assert 10 < float(found["__jvm-memory-used-mb"][SPOUT]) < 10_000


def test_timelines(tracked: Tracked) -> None:
    now = int(time.time())
    asked = {"component": "lines", "metricname": ["__emit-count/default"], "instance": [SPOUT, "container_1_lines_9"]}
    found = ask(tracked, "metrics/timeline", **asked, starttime=now - 3_600, endtime=now)
    assert sum(found["timeline"]["__emit-count/default"][SPOUT].values()) > 0


@pytest.mark.parametrize("text", QUERIES.values(), ids=QUERIES)
@pytest.mark.parametrize("instance", ["*", BOLT])
def test_queries_of_its_pages(tracked: Tracked, text: str, instance: str) -> None:
    (line,) = query(tracked, text.format("count_by_key", instance))
    assert line["instance"] in (BOLT, None)
    assert line["data"] or text.startswith("RATE")  # of one minute there is none
    text = text.format("count_by_key", instance)
    wait_until(lambda: largest(tracked, f"MAX({text})") == largest(tracked, text))  # a sample may come between the two


def test_its_capacity_is_the_share_of_a_core(tracked: Tracked) -> None:
    """It takes latencies for nanoseconds."""

    def is_share() -> bool:
        (capacity,) = query(tracked, QUERIES["capacity"].format("count_by_key", BOLT))
        (cores,) = query(tracked, f"TS(count_by_key,{BOLT},__capacity)")
        told = {minute: value for minute, value in capacity["data"].items() if value}
        assert told
        return told == pytest.approx({minute: cores["data"][minute] for minute in told})

    wait_until(is_share)  # a sample may come between the two


def test_its_share_of_memory_is_of_what_was_asked_for(tracked: Tracked) -> None:
    asked = ask(tracked, "packingplan")["container_plans"][0]["instances"][1]["instance_resources"]["ram"]

    def is_share() -> bool:
        (share,) = query(tracked, QUERIES["memory"].format("count_by_key", BOLT))
        (used,) = query(tracked, f"TS(count_by_key,{BOLT},__memory-resident-bytes)")
        assert share["data"]
        return share["data"] == pytest.approx({minute: used["data"].get(minute, 0) / asked for minute in share["data"]})

    wait_until(is_share)  # a sample may come between the two


def test_its_query_of_back_pressure(tracked: Tracked) -> None:
    lines = query(tracked, f"DEFAULT(0,TS(__stmgr__,*,__time_spent_back_pressure_by_compid/{BOLT}))")
    assert all(value == 0 for line in lines for value in line["data"].values())
