"""All routes of the tracker over one topology that runs: Heron's shapes, errors, the old form, and what a page holds."""

from __future__ import annotations

import os
import re
import time
from typing import IO, Any

import pytest
from bs4 import BeautifulSoup
from fastapi.testclient import TestClient
from typer.testing import CliRunner

from ouzel.cli.main import app as commands
from ouzel.errors import OuzelError
from ouzel.runtime.observe.state_summaries import ALIKE
from ouzel.tracker.acting.actions import LEVELS
from ouzel.tracker.app import create_app
from ouzel.tracker.serve import listen
from tests.servers.waiting import wait_until
from tests.tracker.conftest import ROWS, Tracked
from tests.tracker.snapshots import EVIL

pytestmark = pytest.mark.server

SPOUT, BOLT = "container_1_lines_1", "container_1_count_by_key_2"
HAS = {
    "has_physical_plan": True,
    "has_packing_plan": True,
    "has_tmanager_location": True,
    "has_scheduler_location": True,
}


def test_plans_and_states_have_herons_shapes(tracked: Tracked) -> None:
    name, user = tracked.name, tracked.user
    bare = tracked.client.get
    assert bare("/health").text == "ok"
    assert bare("/clusters").json() == ["local"]
    assert bare("/topologies").json() == {"local": {user: {"default": [name]}}}
    assert bare("/topologies", params={"cluster": "elsewhere"}).json() == {}
    assert list(bare("/machines").json()["local"]["default"]) == [name]
    state: Any = tracked.get("/topologies/executionstate")
    assert bare("/topologies/states").json() == {"local": {"default": {name: state}}}
    assert (HAS.items() | {"status": "RUNNING", "jobname": name, "instances": 2, "role": user}.items()) <= state.items()
    assert tracked.get("/topologies/metadata") == {key: state[key] for key in state.keys() - HAS.keys() - {"status"}}
    runtime: Any = tracked.get("/topologies/runtimestate")
    assert runtime == {
        **HAS,
        "release_version": state["release_version"],
        "stmgrs": {"stmgr-1": {"is_registered": True}},
    }
    logical: Any = tracked.get("/topologies/logicalplan")
    assert (logical["stages"], list(logical["spouts"])) == (1, ["lines"])
    link = {"stream_name": "default", "component_name": "lines", "grouping": "fields($key)"}
    assert logical["bolts"]["count_by_key"]["inputs"] == [link]
    assert logical["bolts"]["count_by_key"]["inputComponents"] == ["lines"]
    physical: Any = tracked.get("/topologies/physicalplan")
    assert physical["instance_groups"] == {"container_1": [SPOUT, BOLT]}
    assert physical["bolts"] == {"count_by_key": [BOLT]}
    assert os.path.exists(physical["instances"][BOLT]["logfile"])
    assert physical["config"] == tracked.get("/topologies/config")
    (container,) = tracked.get("/topologies/packingplan")["container_plans"]  # type: ignore[index]
    assert [one["task_id"] for one in container["instances"]] == [1, 2]
    info: Any = tracked.get("/topologies/info")
    assert (info["logical_plan"], info["physical_plan"], info["name"]) == (logical, physical, name)
    assert info["scheduler_location"] == tracked.get("/topologies/schedulerlocation")


def test_metrics_come_now_by_minute_and_by_query(tracked: Tracked) -> None:
    now: Any = tracked.get("/topologies/metrics", component="lines", metricname="__execute-count/default")
    assert now == {"interval": -1, "component": "lines", "metrics": {"__execute-count/default": {SPOUT: str(ROWS)}}}
    assert "__bytes" in tracked.get("/topologies/metrics", component="__stmgr__")["metrics"]  # type: ignore[index]
    span = {"starttime": int(time.time()) - 3_600, "endtime": int(time.time()) + 60}
    lines: Any = tracked.get(
        "/topologies/metrics/timeline", component="lines", metricname="__execute-count/default", **span
    )
    points = lines["timeline"]["__execute-count/default"][SPOUT]
    assert sum(points.values()) == ROWS
    assert all(int(minute) % 60 == 0 for minute in points)
    legacy: Any = tracked.get(
        "/topologies/metricstimeline", component="lines", metricname="__execute-count/default", **span
    )
    texts = legacy["timeline"]["__execute-count/default"][SPOUT]
    assert {minute: float(text) for minute, text in texts.items()} == points
    query = {"query": "SUM(TS(lines, *, __execute-count/default))", **span}
    for path in ("/topologies/metrics/query", "/topologies/metricsquery"):
        answer: Any = tracked.get(path, **query)
        assert answer == {**span, "timeline": [{"instance": None, "data": points}]}


def test_an_instance_has_a_pid_and_stacks_and_its_container_files(tracked: Tracked) -> None:
    pid: Any = tracked.get("/topologies/pid", instance=BOLT)
    assert os.path.exists(f"/proc/{pid['stdout']}")
    stacks: Any = tracked.get("/topologies/jstack", instance=BOLT)
    assert "(most recent call first)" in stacks["stdout"]
    listing: Any = tracked.get("/topologies/container/filestats", container="1")
    assert listing == tracked.get("/topologies/containerfilestats", container="1")
    assert {"instance-1.log", "metrics-0.jsonl"} <= listing.keys()
    assert not {"key", "topology"} & listing.keys()
    part: Any = tracked.get("/topologies/container/filedata", container="1", path="instance-2.log", offset=0, length=10)
    assert (part["offset"], part["length"]) == (0, 10)
    whole = tracked.client.get(
        "/topologies/container/filedownload", params={**tracked.whose, "container": "1", "path": "instance-2.log"}
    )
    assert whole.text.startswith(part["data"])
    assert tracked.get("/topologies/exceptions", component="lines") == []
    assert tracked.get("/topologies/exceptionsummary", component="lines") == []


@pytest.mark.parametrize(
    ("path", "parameters", "told"),
    [
        ("/topologies/info", {"topology": "none"}, "there is no submitted topology 'none'"),
        ("/topologies/info", {"topology": "../state"}, "cannot name a submitted topology"),
        ("/topologies/info", {"environ": "prod"}, "there is no environment 'local/prod'"),
        ("/topologies/info", {"role": "nobody-else"}, "leave out role"),
        ("/topologies/metrics", {}, "component: Field required"),
        ("/topologies/metrics", {"component": "none"}, "has no component 'none'"),
        ("/topologies/metrics/query", {"query": "AVG(", "starttime": 0, "endtime": 60}, "no query of metrics"),
        ("/topologies/metrics/query", {"query": "TS(lines,*,m)", "starttime": 9, "endtime": 1}, "no span of time"),
        ("/topologies/metrics/query", {"query": "TS(lines,*,m)", "starttime": 0, "endtime": 10**12}, "too long"),
        ("/topologies/pid", {"instance": "container_1_lines_9"}, "has no instance"),
        ("/topologies/jmap", {"instance": SPOUT}, "jstack"),
        ("/topologies/container/filedata", {"container": "1", "path": "../key"}, "is no file of the container"),
        ("/topologies/container/filedata", {"container": "7", "path": "instance-1.log"}, "has no container '7'"),
        (
            "/topologies/container/filedownload",
            {"container": "1", "path": "/etc/passwd"},
            "is no file of the container",
        ),
        ("/topologies/container/filestats", {"container": "1", "path": ".."}, "is no folder of the container"),
        ("/machines", {"cluster": [], "environ": []}, "write all three"),
    ],
)
def test_an_error_is_a_text_with_status_400(tracked: Tracked, path: str, parameters: dict[str, Any], told: str) -> None:
    answer = tracked.client.get(path, params={**tracked.whose, **parameters})
    assert answer.status_code == 400
    assert isinstance(answer.json(), str)
    assert told in answer.json()


def test_the_old_form_is_there_for_who_asks(tracked: Tracked) -> None:
    bare: Any = tracked.get("/topologies/logicalplan")
    old = tracked.client.get("/topologies/logicalplan", params={**tracked.whose, "envelope": "1"}).json()
    assert old.keys() == {"status", "message", "executiontime", "tracker_version", "result"}
    assert (old["status"], old["result"]) == ("success", bare)
    failed = tracked.client.get(
        "/topologies/info", params={**tracked.whose, "topology": "none", "envelope": "1"}
    ).json()
    assert (failed["status"], failed["result"]) == ("failure", {})
    assert "no submitted topology" in failed["message"]


def test_prometheus_can_scrape_all_topologies(tracked: Tracked) -> None:
    text = tracked.client.get("/metrics").text
    assert f'ouzel_rows_in_total{{topology="{tracked.name}"}} {float(ROWS)}' in text
    assert f'ouzel_topology_state{{state="running",topology="{tracked.name}"}} 1.0' in text
    assert f'ouzel_task_rows_in_total{{component="lines",task="0",topology="{tracked.name}"}} {float(ROWS)}' in text


def test_the_pages_show_it(tracked: Tracked) -> None:
    listed = tracked.client.get("/")
    assert "default-src 'none'" in listed.headers["content-security-policy"]
    assert float(listed.headers["x-process-time"]) > 0
    (row,) = BeautifulSoup(listed.text, "html.parser").select("#topologies tbody tr")
    assert row.a is not None
    assert row.a["href"] == f"/topology/{tracked.name}"
    assert "running" in row.text
    answer = tracked.client.get(f"/topology/{tracked.name}")
    page = BeautifulSoup(answer.text, "html.parser")
    assert [text.text for text in page.select("svg .box .clipped")] == ["lines", "count_by_key"]
    assert [head.text for head in page.select(".frame h3")] == ["container 0", "container 1"]
    assert {cell.text for cell in page.select("#results th")} == {"change", "odd", "<b>seen</b>"}
    assert "20" in [cell.text for cell in page.select("#results td")]
    part = tracked.client.get(f"/pages/topology/{tracked.name}").text
    assert BeautifulSoup(part, "html.parser").select("#components tbody tr")
    assert tracked.client.get("/topology/none").status_code == 404


def test_a_page_pauses_it_by_the_command_and_has_it_go_on(tracked: Tracked) -> None:
    for key, title, state in (("pause", "Pause", "paused"), ("resume", "Resume", "running")):
        form = tracked.client.get(f"/topology/{tracked.name}/do/{key}").text
        code = BeautifulSoup(form, "html.parser").select_one("input[name=code]")
        assert code is not None
        page = tracked.client.post(f"/topology/{tracked.name}/do/{key}", data={"code": str(code["value"])})
        assert page.url.path == f"/topology/{tracked.name}"
        wait_until(lambda title=title: _last_action(tracked).startswith(f"done {title}"))
        wait_until(lambda state=state: state in _facts(tracked))
    refused = tracked.client.post(
        f"/api/v1/topologies/local/{tracked.user}/default/{tracked.name}/restart", data={"container_id": "9"}
    )
    assert (refused.status_code, "has no part 'container-9'" in refused.json()["message"]) == (500, True)


def _last_action(tracked: Tracked) -> str:
    page = BeautifulSoup(tracked.client.get(f"/pages/topology/{tracked.name}").text, "html.parser")
    return page.select(".carried li")[0].get_text(" ", strip=True)


def _facts(tracked: Tracked) -> str:
    page = BeautifulSoup(tracked.client.get(f"/pages/topology/{tracked.name}").text, "html.parser")
    return page.select(".facts")[0].text


def test_a_part_to_start_again_and_numbers_of_tasks_can_be_chosen(tracked: Tracked) -> None:
    form = BeautifulSoup(tracked.client.get(f"/topology/{tracked.name}/do/restart").text, "html.parser")
    offered = [str(one["value"]) for one in form.select("option")]
    assert offered == ["", "lines", "count_by_key", "lines[0]", "count_by_key[0]", "container-0", "container-1"]
    form = BeautifulSoup(tracked.client.get(f"/topology/{tracked.name}/do/log-level").text, "html.parser")
    assert [str(one["value"]) for one in form.select("#level option")] == list(LEVELS)
    assert {str(one["for"]) for one in form.select("label")} == {"part", "level", "minutes"}
    form = BeautifulSoup(tracked.client.get(f"/topology/{tracked.name}/do/rescale").text, "html.parser")
    assert {str(one["name"]): one["value"] for one in form.select("input[type=number]")} == {
        "tasks.lines": "1",
        "tasks.count_by_key": "1",
    }


def test_a_log_is_led_to_shown_and_searched_and_cannot_inject(tracked: Tracked) -> None:
    written = f"\x1b[31m<script>alert(1)</script>\x1b[0m {EVIL}"
    (tracked.home / "container-1" / "evil.log").write_text(f"{written}\nneedle & thread\n")
    page = BeautifulSoup(tracked.client.get(f"/topology/{tracked.name}").text, "html.parser")
    links = [str(one["href"]) for one in page.select(".frame li a")]
    assert f"/topology/{tracked.name}/logs/1/instance-2.log" in links
    listed = BeautifulSoup(tracked.client.get(f"/topology/{tracked.name}/logs").text, "html.parser")
    evil = f"/topology/{tracked.name}/logs/1/evil.log"
    leads = [str(one["href"]) for one in listed.select("#logs a")]
    assert {evil, f"/topology/{tracked.name}/logs/server/server.log", *links} <= {*leads, *links}
    answer = tracked.client.get(evil)
    shown = BeautifulSoup(answer.text, "html.parser")
    assert shown.select_one("#log").text.splitlines()[0] == f"<script>alert(1)</script> {EVIL}"  # type: ignore[union-attr]
    assert [script.get("src") for script in shown.select("script")] == ["/static/ouzel.js", "/static/log.js"]
    found = BeautifulSoup(tracked.client.get(evil, params={"search": "NEEDLE &"}).text, "html.parser")
    (line,) = found.select("#found li")
    assert line.text.endswith("needle & thread")
    assert line.a is not None
    assert f"?offset={len(written.encode()) + 1}" in str(line.a["href"])
    for path in (
        f"/topology/{tracked.name}/logs/1/none.log",
        f"/topology/{tracked.name}/logs/1/..%2Fkey",
        "/topology/none/logs",
    ):
        assert tracked.client.get(path).status_code == 404


def test_top_prints_it_as_text(tracked: Tracked) -> None:
    everything = CliRunner().invoke(commands, ["top", "--once"])
    title, heads, row = everything.output.splitlines()
    assert (everything.exit_code, title, heads.split()[:2]) == (0, "1 topology", ["NAME", "STATE"])
    assert row.split()[:2] == [tracked.name, "running"]
    one = CliRunner().invoke(commands, ["top", tracked.name])
    assert [line.split()[0] for line in one.output.splitlines()[1:4]] == ["COMPONENT", "lines", "count_by_key"]
    assert one.output.startswith(f"{tracked.name} · running")
    none = CliRunner().invoke(commands, ["top", "none"])
    assert (none.exit_code, "there is no submitted topology 'none'" in none.output) == (2, True)


def test_dashboards_show_what_its_containers_use(tracked: Tracked) -> None:
    assert "__memory-resident-bytes" in tracked.get("/topologies/metrics", component="__container__")["metrics"]  # type: ignore[index]
    for path in (f"/topology/{tracked.name}/viz?span=3m", f"/pages/viz/{tracked.name}?span=all"):
        page = BeautifulSoup(tracked.client.get(path).text, "html.parser")
        told = {str(one["aria-label"]).partition(":")[0]: str(one["aria-label"]) for one in page.select("svg.chart")}
        assert re.search(r"container 1: [\d.]+ [kMG]B", told["Memory by container"])
        assert "lines" in told["Rows in"]
    assert tracked.client.get("/topology/none/viz").status_code == 404
    assert tracked.client.get(f"/topology/{tracked.name}/viz", params={"from": 0, "to": 10**9}).status_code == 200


def test_state_by_operator_is_told_while_nothing_is_sampled(tracked: Tracked) -> None:
    wait_until(lambda: tracked.get("/topologies/state"))
    (kept,) = tracked.get("/topologies/state")  # type: ignore[misc]
    assert (kept["component"], kept["tasks"], kept["keys"], kept["rows"], kept["tables"]) == (
        "count_by_key",
        1,
        2,
        None,
        [],
    )
    assert kept["bytes"] > 0
    page = BeautifulSoup(tracked.client.get(f"/topology/{tracked.name}").text, "html.parser")
    (row,) = page.select("#operators tbody tr")
    cells = [cell.text for cell in row.select("th, td")]
    assert cells[:5] == ["count_by_key", kept["operator"], "1", "2", "–"]
    assert page.select_one("#kept") is None
    metric = f"__state-keys/{kept['operator']}"
    asked: Any = tracked.get("/topologies/metrics", component="count_by_key", metricname=metric)
    assert [float(value) for value in asked["metrics"][metric].values()] == [2.0]
    scraped = tracked.client.get("/metrics").text
    assert re.search(r"ouzel_operator_keys\{[^}]*component=\"count_by_key\"[^}]*\} 2\.0", scraped)


def test_rows_are_sampled_and_a_level_is_asked_for_from_its_page_and_by_commands(tracked: Tracked) -> None:
    assert tracked.get("/topologies/samples") == []
    nothing = CliRunner().invoke(commands, ["sample", tracked.name])
    assert (nothing.exit_code, "no rows are sampled" in nothing.output) == (0, True)
    form = BeautifulSoup(tracked.client.get(f"/topology/{tracked.name}/do/sample").text, "html.parser")
    code = form.select_one("input[name=code]")
    assert code is not None
    fields = {"code": str(code["value"]), "part": "count_by_key", "minutes": "5"}
    tracked.client.post(f"/topology/{tracked.name}/do/sample", data=fields)
    wait_until(lambda: _last_action(tracked).startswith("done Sample rows"))
    with (tracked.registry.home.parent / "lines.jsonl").open("a") as lines:
        wait_until(lambda: _append(lines) and tracked.get("/topologies/samples"))
    samples: Any = tracked.get("/topologies/samples")
    assert {one["instance"] for one in samples} == {BOLT}
    assert "<b>seen</b>" in samples[-1]["columns"]
    page = tracked.client.get(f"/pages/topology/{tracked.name}").text
    assert "<b>seen" not in page
    (kept,) = tracked.get("/topologies/state")  # type: ignore[misc]
    (table,) = kept["tables"]
    assert (kept["component"], table["table"], table["keys"], table["note"]) == ("count_by_key", "groups", 2, ALIKE)
    assert ALIKE in BeautifulSoup(page, "html.parser").select_one("#kept").text  # type: ignore[union-attr]
    assert BeautifulSoup(page, "html.parser").select("table.samples tbody tr")
    shown = CliRunner().invoke(commands, ["sample", tracked.name, "count_by_key"])
    assert "count_by_key[0] · 1 " in shown.output
    assert f"keeps groups: 2 keys; largest keys: {ALIKE}" in shown.output
    assert "no more rows" in CliRunner().invoke(commands, ["sample", tracked.name, "--minutes", "0"]).output
    asked = CliRunner().invoke(commands, ["log-level", tracked.name, "debug", "lines", "--minutes", "1"])
    assert asked.output == "1 task of 'counted' log from debug on for 1 min\n"
    (found,) = tracked.registry.home.rglob("asked-log-level-*.json")
    assert "log level debug: lines[0]" in CliRunner().invoke(commands, ["status", tracked.name]).output
    log = found.parent / "instance-1.log"
    wait_until(lambda: "DEBUG ouzel.instance: plan " in log.read_text())
    assert CliRunner().invoke(commands, ["log-level", tracked.name, "default"]).exit_code == 0
    wait_until(lambda: log.read_text().rstrip().endswith("log level: as before"))
    assert not found.exists()
    wrong = CliRunner().invoke(commands, ["log-level", tracked.name, "debug", "nobody"])
    assert (wrong.exit_code, "has no part 'nobody'" in wrong.output) == (2, True)


def test_the_page_of_a_topology_shows_its_last_traces(tracked: Tracked) -> None:
    def steps() -> list[str]:
        page = BeautifulSoup(tracked.client.get(f"/pages/topology/{tracked.name}").text, "html.parser")
        table = page.select_one("table.traces")
        return [] if table is None else [row.get_text(" ") for row in table.select("tbody tr")]

    wait_until(lambda: len(steps()) >= 4)
    told = {step.partition(", task")[0].strip() for step in steps()}
    assert told == {"read lines", "compute count_by_key", "write count_by_key", "await acks lines"}


def _append(lines: IO[str]) -> bool:
    lines.write('{"n": 1}\n')
    lines.flush()
    return True


def test_two_servers_at_once_show_the_same_and_neither_needs_the_other(tracked: Tracked) -> None:
    app = create_app(tracked.registry, owner_of=lambda client, server: os.getuid())
    with TestClient(app, base_url="http://localhost") as other:
        for path in ("/topologies/logicalplan", "/topologies/physicalplan", "/topologies/epochs"):
            assert other.get(path, params=tracked.whose).json() == tracked.get(path)
        assert "running" in other.get(f"/topology/{tracked.name}").text
        metric = {"component": "lines", "metricname": "__execute-count/default"}
        assert other.get("/topologies/metrics", params=tracked.whose | metric).json()["metrics"]
    assert "running" in _facts(tracked), "the other has ended"
    with listen("127.0.0.1", 0) as listener, pytest.raises(OuzelError, match="choose another with --port"):
        listen("127.0.0.1", listener.getsockname()[1])


def test_epochs_say_which_task_was_slowest(tracked: Tracked) -> None:
    wait_until(lambda: tracked.get("/topologies/epochs"))
    newest: Any = tracked.get("/topologies/epochs")[0]  # type: ignore[index]
    assert newest["slowest"]["task"] in ("lines[0]", "count_by_key[0]")
    assert min(newest["slowest"][f"{stage}_ms"] for stage in ("aligned", "copied", "written")) >= 0
    assert newest["keys"]["count_by_key"] == 2
    listed = CliRunner().invoke(commands, ["checkpoint", "list", tracked.name])
    assert "[0]: aligned " in listed.output
    assert "; slowest " in CliRunner().invoke(commands, ["status", tracked.name]).output
