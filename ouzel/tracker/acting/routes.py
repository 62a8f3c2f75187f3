"""Routes that change a topology: forms of the pages, and the URLs of Heron's API server. With `--read-only` none of them is there.

The guard (guard.py) has looked at who asks. A form also carries a code that only a page of this server could have put into it.
"""

from __future__ import annotations

import time
from typing import Annotated
from urllib.parse import parse_qsl, quote

from fastapi import APIRouter, Depends, Request
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from ouzel.errors import OuzelError, SubmissionError
from ouzel.runtime.process.asks import MINUTES_MAX
from ouzel.runtime.process.job import RunDescription
from ouzel.runtime.protocol.cluster.submitted import Submitted
from ouzel.tracker.acting.actions import (
    BREAKING,
    LEVELS,
    Action,
    ActionRefused,
    Fields,
    Target,
    find_action,
    fitting_actions,
    savepoint_folder,
)
from ouzel.tracker.acting.carrying import ActionRunner
from ouzel.tracker.acting.form_codes import FormCodes
from ouzel.tracker.api.plans import release
from ouzel.tracker.api.routes import AppWatcher
from ouzel.tracker.pages.topology_pages import render
from ouzel.tracker.topologies.snapshot import CLUSTER, ENVIRON, find_user

BODY_BYTES = 64 << 10
FIELDS_MAX = 2_000
FOREIGN_FORM = "this form is none of the servers of these topologies; look at it, and send it again"

acting_router = APIRouter(include_in_schema=False)
api_router = APIRouter(prefix="/api/v1")


def get_runner(request: Request) -> ActionRunner:
    """The runner of the application."""
    runner: ActionRunner = request.app.state.runner
    return runner


def get_form_codes(request: Request) -> FormCodes:
    """What makes and checks the codes of the application's forms."""
    codes: FormCodes = request.app.state.form_codes
    return codes


Runner = Annotated[ActionRunner, Depends(get_runner)]
Codes = Annotated[FormCodes, Depends(get_form_codes)]


async def read_fields(request: Request) -> list[tuple[str, str]]:
    """The fields of a form, at most BODY_BYTES of them.

    Raises:
        SubmissionError: there is more, or it is no form.
    """
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > BODY_BYTES:
            raise SubmissionError(f"more than {BODY_BYTES:,} bytes were sent; send a form")
    try:
        return parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=FIELDS_MAX)
    except ValueError as error:
        raise SubmissionError(f"what was sent is no form: {error}") from error


FormFields = Annotated[list[tuple[str, str]], Depends(read_fields)]


@acting_router.get("/topology/{name}/do/{key}", response_class=HTMLResponse)
def confirm_page(watcher: AppWatcher, codes: Codes, name: str, key: str) -> Response:
    """The form by which an action is confirmed."""
    try:
        return _form(watcher, codes, name, find_action(key))
    except OuzelError as error:
        return render("problem.html", 404, title="Not found", problem=str(error))


@acting_router.post("/topology/{name}/do/{key}")
def act(watcher: AppWatcher, runner: Runner, codes: Codes, name: str, key: str, given: FormFields) -> Response:
    """Begin an action, and show the topology; what removes it is waited for."""
    fields = dict(given)
    try:
        action = find_action(key)
        _find(watcher, name)
        if not codes.is_good(fields.get("code", ""), name, key):
            return _form(watcher, codes, name, action, FOREIGN_FORM, 403)
        arguments = action.arguments(_target(watcher, name), fields)
        if key != "kill":
            runner.start(name, action.title, arguments)
            return RedirectResponse(f"/topology/{quote(name)}#actions", 303)
        done = runner.run(name, action.title, arguments)
        return RedirectResponse("/", 303) if done.code == 0 else _form(watcher, codes, name, action, done.said, 400)
    except ActionRefused as error:
        return _form(watcher, codes, name, find_action(key), str(error), 400)
    except OuzelError as error:
        return render("problem.html", 404, title="Not found", problem=str(error))


def _find(watcher: AppWatcher, name: str) -> Submitted:
    record = watcher.registry.find(name)
    if record is None:
        raise SubmissionError(f"there is no submitted topology '{name}'")
    return record


def _target(watcher: AppWatcher, name: str) -> Target:
    now = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    return Target(name, savepoint_folder(watcher.registry.home, name, now))


def _form(
    watcher: AppWatcher, codes: FormCodes, name: str, action: Action, problem: str = "", status: int = 200
) -> Response:
    record = _find(watcher, name)
    condition = watcher.registry.condition(record)
    return render(
        "confirm.html",
        status,
        name=name,
        action=action,
        is_breaking=action.key in BREAKING,
        fits=action in fitting_actions(name, condition),
        condition=condition.value,
        code=codes.make(name, action.key),
        problem=problem,
        folder=str(_target(watcher, name).savepoint),
        levels=LEVELS,
        minutes_max=MINUTES_MAX,
        **_choices(watcher, record, action),
    )


def _choices(watcher: AppWatcher, record: Submitted, action: Action) -> dict[str, object]:
    """What can be chosen in the form: parts by their kind, or components with their numbers of tasks."""
    if not action.asks & {"part", "parallelism"}:
        return {"parts": {}, "components": []}
    job = watcher.registry.folder(record.name).load(record.run)
    return {
        "parts": restartable_parts(job),
        "components": [(one.name, one.parallelism) for one in job.topology.components],
    }


def restartable_parts(job: RunDescription) -> dict[str, list[str]]:
    """What of a topology can be started again, by kind."""
    tasks = [f"{task.component}[{task.index}]" for task in job.topology.tasks()]
    return {
        "Components": [one.name for one in job.topology.components],
        "Tasks": tasks,
        "Containers": [f"container-{number}" for number in job.containers],
    }


def _find_name(watcher: AppWatcher, cluster: str, role: str, environ: str, name: str) -> str:
    """The topology that a URL of the API server names. Its files need not be readable: it can be removed all the same.

    Raises:
        SubmissionError: there is none.
    """
    user = find_user(watcher.registry.home)
    if (cluster, role, environ) != (CLUSTER, user, ENVIRON):
        raise SubmissionError(f"there is no '{cluster}/{role}/{environ}'; write {CLUSTER}/{user}/{ENVIRON}")
    return _find(watcher, name).name


@api_router.get("/version")
def get_version() -> dict[str, str]:
    """The version of what answers."""
    return {"ouzel.build.version": release()}


_PATH = "/topologies/{cluster}/{role}/{environ}/{name}"


@api_router.post(f"{_PATH}/activate")
async def activate(watcher: AppWatcher, runner: Runner, cluster: str, role: str, environ: str, name: str) -> Response:
    """Have a paused topology go on."""
    return await _carry_out(watcher, runner, (cluster, role, environ, name), "resume", {})


@api_router.post(f"{_PATH}/deactivate")
async def deactivate(watcher: AppWatcher, runner: Runner, cluster: str, role: str, environ: str, name: str) -> Response:
    """Bring a topology to rest."""
    return await _carry_out(watcher, runner, (cluster, role, environ, name), "pause", {})


@api_router.post(f"{_PATH}/restart")
async def restart(
    watcher: AppWatcher, runner: Runner, cluster: str, role: str, environ: str, name: str, given: FormFields
) -> Response:
    """Start a topology again, or its container `container_id` if that is not -1."""
    container = dict(given).get("container_id", "-1")
    part = {} if container == "-1" else {"part": f"container-{container}"}
    return await _carry_out(watcher, runner, (cluster, role, environ, name), "restart", part)


@api_router.post(f"{_PATH}/update")
async def update_tasks(
    watcher: AppWatcher, runner: Runner, cluster: str, role: str, environ: str, name: str, given: FormFields
) -> Response:
    """Give components other numbers of tasks: `component_parallelism=COMPONENT:N`, repeated."""
    others = sorted({key for key, _ in given} - {"component_parallelism"})
    if others or not given:
        told = f"'{others[0]}' is not supported" if others else "nothing is to be changed"
        return _message(f"{told}; send component_parallelism=COMPONENT:N", 422)
    pairs = [value.rpartition(":")[::2] for _, value in given]
    wanted = {f"tasks.{component}": tasks for component, tasks in pairs}
    return await _carry_out(watcher, runner, (cluster, role, environ, name), "rescale", wanted)


@api_router.delete(_PATH)
async def kill(watcher: AppWatcher, runner: Runner, cluster: str, role: str, environ: str, name: str) -> Response:
    """End a topology at once, and remove it."""
    return await _carry_out(watcher, runner, (cluster, role, environ, name), "kill", {"name": name})


async def _carry_out(
    watcher: AppWatcher, runner: ActionRunner, path: tuple[str, str, str, str], key: str, fields: Fields
) -> Response:
    try:
        name = _find_name(watcher, *path)
    except OuzelError as error:
        return _message(str(error), 404)
    action = find_action(key)
    try:
        arguments = action.arguments(_target(watcher, name), fields)
    except OuzelError as error:
        return _message(str(error), 422)
    done = await run_in_threadpool(runner.run, name, action.title, arguments)
    return _message(done.said or done.state, 200 if done.code == 0 else 500)


def _message(text: str, status: int) -> Response:
    return JSONResponse({"message": text}, status)
