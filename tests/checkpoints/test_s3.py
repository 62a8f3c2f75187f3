"""Checkpoints in a real S3 server: what a folder does is done there, and an outage is no damage."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ouzel.cli.main import app
from ouzel.errors import StateError, SubmissionError
from ouzel.planner.store_address import StoreAddress
from ouzel.runtime.checkpoints.folder_store import FolderObjects
from ouzel.runtime.checkpoints.fork import fork_epoch
from ouzel.runtime.checkpoints.names import epoch_name
from ouzel.runtime.checkpoints.objects import StoreAway, parse_store_place
from ouzel.runtime.checkpoints.opening import open_store
from ouzel.runtime.checkpoints.savepoint import Savepoint, write_savepoint
from ouzel.runtime.checkpoints.store import CheckpointStore
from ouzel.runtime.protocol.cluster.leadership import Deposed
from tests.checkpoints.samples import chain_of, task, write_epoch
from tests.checkpoints.test_leaders import led
from tests.checkpoints.test_objects import copies_to, does_what_it_says, keep
from tests.checkpoints.test_savepoint import add
from tests.servers.s3 import S3Server

pytestmark = pytest.mark.server

PAGE = Path(__file__).parents[2] / "docs/operations.md"
SECTION = PAGE.read_text().partition("### Epochs and savepoints in S3")[2].partition("\n### ")[0]
TRANSCRIPT = re.findall(r"^\$ ouzel checkpoint (.*)\n((?:(?!\$ |```).*\n)*)", SECTION, re.MULTILINE)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    """One server for all tests, each of which has a prefix of its own."""
    made = S3Server(tmp_path_factory.mktemp("s3"))
    with pytest.MonkeyPatch.context() as patched:
        for name, value in made.environment.items():
            patched.setenv(name, value)
        yield made
    made.kill()


@pytest.fixture
def store(server: S3Server, request: pytest.FixtureRequest) -> CheckpointStore:
    """A store of the topology 'words', below a prefix that is not only letters."""
    made = CheckpointStore(server.address(f"jobs of ü/{request.node.name}"))
    made.claim("words", "its id")
    return made


def file_of(server: S3Server, store: CheckpointStore, name: str) -> Path:
    """Where the server keeps an object."""
    assert isinstance(store.folder, StoreAddress)
    return server.objects / store.folder.prefix / name


def test_it_does_what_a_store_is_to_do(server: S3Server, tmp_path: Path) -> None:
    store = open_store(server.address("as a store"))
    does_what_it_says(store)
    copies_to(store, FolderObjects(tmp_path / "folder"))
    copies_to(FolderObjects(tmp_path / "folder"), store)
    copies_to(store, open_store(server.address("as another store")))


def test_what_is_large_is_sent_and_read_in_parts(server: S3Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ouzel.runtime.checkpoints.s3_store._RANGE_BYTES", 7 << 20)
    store = open_store(server.address("large"))
    content = bytes(range(256)) * (20 << 12)
    keep(store, "tasks/large", content)
    assert store.get("tasks/large") == content
    assert store.sizes(["tasks/large"]) == {"tasks/large": 20 << 20}


def test_epochs_are_kept_read_verified_and_pruned(store: CheckpointStore, server: S3Server) -> None:
    first = write_epoch(store, 1)
    second = write_epoch(store, 2, *chain_of(first))
    assert (store.epochs(), store.newest(), store.newest(before=2)) == ([1, 2], (second, []), (first, []))
    assert [state.number for one in store.read_task(second.tasks[0]) for state in one.states] == [1, 2]
    odd = store.write_task(3, task(component="a/../b ü"))
    assert file_of(server, store, odd.name).stat().st_size == odd.size
    third = write_epoch(store, 3)
    assert len(store.prune(1)) == 2 + 5  # the odd one, too, which no manifest names
    assert (store.epochs(), store.verify(3), store.newest()) == ([3], [], (third, []))
    with pytest.raises(StateError, match="holds epoch 3 already, with other content"):
        store.complete(replace(third, made_us=1))


def test_of_two_that_complete_an_epoch_or_take_a_prefix_at_once_one_wins(store: CheckpointStore) -> None:
    manifest = write_epoch(store, 1)
    for _ in range(5):
        prefix = replace(store.folder, prefix=f"{store.folder.prefix}/{_}")
        results: list[str] = []

        def take(name: str, prefix: StoreAddress = prefix, results: list[str] = results) -> None:
            try:
                CheckpointStore(prefix).claim(name, f"id of {name}")
                results.append(name)
            except StateError:
                pass

        threads = [threading.Thread(target=take, args=(name,)) for name in ("words", "clicks")]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
        assert len(results) == 1
        owner = CheckpointStore(prefix).owner()
        assert owner is not None
        assert [owner.topology] == results
    assert store.newest() == (manifest, [])


def test_it_belongs_to_one_topology(store: CheckpointStore) -> None:
    write_epoch(store, 1)
    store.claim("words", "its id")
    for name, told in (("words", "another run of topology 'words'"), ("clicks", "of topology 'words'")):
        with pytest.raises(StateError, match=told):
            CheckpointStore(store.folder).claim(name, "another id")


def test_an_epoch_that_a_deposed_leader_completes_does_not_count(store: CheckpointStore) -> None:
    write_epoch(store, 1)
    assert store.take_over(1) == 1
    late = led(store, 2, 1)
    assert store.take_over(2) == 1
    store.complete(late)
    with pytest.raises(Deposed, match="leadership 2; this one's was 1"):
        store.check_leads(1)
    assert store.newest() == (store.manifest(1), [])
    assert store.take_over(3) == 1


@pytest.mark.parametrize("part", ["tasks", "epochs"])
@pytest.mark.parametrize("harm", ["flipped", "cut", "empty", "missing", "foreign"])
def test_harm_is_found_named_and_the_epoch_before_is_used(
    harm: str, part: str, store: CheckpointStore, server: S3Server
) -> None:
    before, harmed = write_epoch(store, 1), write_epoch(store, 2, number=5)
    name = f"epochs/{epoch_name(2)}" if part == "epochs" else harmed.tasks[0].files[0].name
    other = f"epochs/{epoch_name(1)}" if part == "epochs" else before.tasks[0].files[0].name
    path = file_of(server, store, name)
    data = path.read_bytes()
    if harm == "missing":
        path.unlink()
    else:
        wrong = {"flipped": data[:99] + bytes([data[99] ^ 4]) + data[100:], "cut": data[:-9], "empty": b""}
        path.write_bytes(wrong.get(harm) or (b"" if harm == "empty" else file_of(server, store, other).read_bytes()))
    found, problems = CheckpointStore(store.folder).newest()
    assert found == before
    if harm == "missing" and part == "epochs":
        assert problems == []  # without a manifest it is no epoch
    else:
        assert f"epoch 2 cannot be used: {store.folder}/{name}" in problems[0]


def test_an_outage_is_no_damage_and_ends(store: CheckpointStore, server: S3Server) -> None:
    kept = write_epoch(store, 1)
    server.kill()
    try:
        for question in (store.newest, store.epochs, lambda: store.verify(1), lambda: store.write_task(2, task())):
            with pytest.raises(StoreAway) as told:
                question()
            assert str(store.folder) in str(told.value.filename)
            assert "Debug" not in str(told.value)
    finally:
        server.start()
    assert store.newest() == (kept, [])
    write_epoch(store, 2)
    assert store.epochs() == [1, 2]


def test_who_is_not_let_in_is_told_and_no_key_is_shown(server: S3Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "a wrong one")
    with pytest.raises(StoreAway) as told:
        CheckpointStore(server.address("closed")).epochs()
    assert "SignatureDoesNotMatch" in str(told.value)
    assert "wrong one" not in str(told.value)
    monkeypatch.undo()
    with pytest.raises(StoreAway, match=r"there is no bucket 'nowhere'|NoSuchBucket"):
        CheckpointStore(replace(server.address("a"), bucket="nowhere")).epochs()


def run(*arguments: str) -> str:
    """What a command prints, which must not fail."""
    result = CliRunner().invoke(app, ["checkpoint", *arguments])
    assert result.exit_code == 0, result.output
    return result.output


def test_commands_work_on_it(store: CheckpointStore, tmp_path: Path, server: S3Server) -> None:
    write_epoch(store, 1)
    for epoch in (2, 3):
        manifest = write_epoch(store, epoch)
    place = str(store.folder)
    assert [line.split()[:2] for line in run("list", place).splitlines()[1:]] == [
        [str(epoch), "complete"] for epoch in (1, 2, 3)
    ]
    assert "epoch 3: 2 files" in run("verify", place)
    assert run("prune", place, "--keep", "2") == "removed 1 epoch and 2 files\n"
    run("fork", place, "--to", f"{place}-fork")
    run("fork", f"{place}-fork", "--to", str(tmp_path / "back"))
    run("fork", str(tmp_path / "back"), "3", "--to", f"{place}-again")
    for copy in (parse_store_place(f"{place}-fork"), tmp_path / "back", parse_store_place(f"{place}-again")):
        assert CheckpointStore(copy).newest() == (manifest, [])
    with pytest.raises(StateError, match="is not empty; write a prefix that nothing has"):
        fork_epoch(store, 3, parse_store_place(f"{place}-fork"))
    harmed = file_of(server, store, manifest.files[0].name)
    harmed.write_bytes(harmed.read_bytes()[:-1] + b"?")
    result = CliRunner().invoke(app, ["checkpoint", "verify", place])
    assert (result.exit_code, place in result.output.replace("\n", "")) == (1, True)


def test_the_transcript_of_the_page_is_what_is_printed(server: S3Server) -> None:
    made = CheckpointStore(parse_store_place("s3://kept/words"))
    made.claim("words", "its id")
    write_epoch(made, 2, *chain_of(write_epoch(made, 1)))
    assert [command.split()[0] for command, _ in TRANSCRIPT] == ["list", "verify", "fork", "prune"]
    for command, printed in TRANSCRIPT:
        assert run(*command.split()) == printed


def test_a_savepoint_goes_there_and_comes_back(store: CheckpointStore, server: S3Server) -> None:
    write_epoch(store, 2, *chain_of(write_epoch(store, 1)))
    place = parse_store_place(f"{store.folder}-savepoint")
    made = write_savepoint(place, store, 2, Path("/queries"), add)
    assert (made.verify(), made.note.columns, made.manifest.tasks) == ([], ("word", "n"), store.manifest(2).tasks)
    fetched = Savepoint(place).fetch()
    assert (fetched.verify(), (fetched.folder / "program").read_bytes()) == ([], b"program")
    folder = fetched.folder
    del fetched
    assert not folder.exists()
    with pytest.raises(SubmissionError, match="holds something else; write a prefix that nothing has"):
        write_savepoint(place, store, 2, Path("/queries"), add)
    with pytest.raises(StateError, match="is no savepoint"):
        Savepoint(store.folder)
    file_of(server, made.store, "program").write_bytes(b"another")
    assert made.verify() == [f"{place}/program is damaged: its checksum is not that of its content"]
    file_of(server, made.store, "savepoint").unlink()
    with pytest.raises(StateError, match="is no savepoint"):
        Savepoint(place)


class _Forgetful(BaseHTTPRequestHandler):
    """An S3 that overwrites whatever it is asked."""

    protocol_version = "HTTP/1.1"
    conditions: list[str | None] = []  # noqa: RUF012

    def do_PUT(self) -> None:
        self.conditions.append(self.headers["If-None-Match"])
        self.rfile.read(int(self.headers["Content-Length"]))
        self._answer({"ETag": '"1"'})

    def do_GET(self) -> None:
        self._answer({}, b"<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>")

    def do_POST(self) -> None:
        keys = re.findall(rb"<Key>.*?</Key>", self.rfile.read(int(self.headers["Content-Length"])))
        self._answer({}, b"<DeleteResult>%s</DeleteResult>" % b"".join(b"<Deleted>%s</Deleted>" % key for key in keys))

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""

    def _answer(self, headers: dict[str, str], body: bytes = b"") -> None:
        self.send_response(200)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def test_a_store_that_ignores_conditions_is_refused_before_anything_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "a")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "b")
    with ThreadingHTTPServer(("127.0.0.1", 0), _Forgetful) as forgetful:
        threading.Thread(target=forgetful.serve_forever, daemon=True).start()
        try:
            address = StoreAddress("bucket", "a", f"http://127.0.0.1:{forgetful.server_port}")
            with pytest.raises(StateError, match="the store ignores `If-None-Match`"):
                CheckpointStore(address).claim("words", "its id")
        finally:
            forgetful.shutdown()
    assert _Forgetful.conditions == [None, "*"]
