"""Publishing epochs to a structure of Redis: the commands of an epoch's rows and the note of its number are one MULTI.

The hash `{key}:epochs` has three fields for each task that publishes: the newest epoch that is visible, a generation, which grows whenever
a task takes over, and a step. Redis takes nothing back of a MULTI in which a command fails. So its commands are calls of one script, each
of which does nothing unless the one before has run to its end. The first looks at the generation, at the epoch and at what stands
under the key; the last notes the epoch.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import polars as pl
from redis.exceptions import NoScriptError

from ouzel.connectors.keyed import keyed_request
from ouzel.connectors.options import TableOptions
from ouzel.connectors.reading import Unreachable
from ouzel.connectors.redis import CONNECTOR
from ouzel.connectors.redis.client import Endpoint
from ouzel.connectors.redis.encoding import Command, CommandEncoder
from ouzel.connectors.redis.keyed import RedisHash
from ouzel.connectors.writing import SinkRequest
from ouzel.errors import ConnectorError

_PORTION = 1_000
_BYTES_MOST = 900 << 20
"""Redis ends a connection of which more than a gigabyte waits (`client-query-buffer-limit`)."""

_KINDS = {"stream": "stream", "hash": "hash", "string": "", "sorted-set": "zset"}
"""What TYPE says of the key; strings stand under keys of their own."""

_SCRIPT = """
local step, kind = ARGV[2], ARGV[3]
local function field(name) return ARGV[1] .. ':' .. name end
local function held(name) return redis.call('HGET', KEYS[1], field(name)) or '0' end
if kind == 'begin' then
  redis.call('HDEL', KEYS[1], field('step'))
  local generation, epoch, stands = held('generation'), held('epoch'), redis.call('TYPE', KEYS[2]).ok
  if tonumber(generation) > tonumber(ARGV[4]) then return 'fenced' end
  if epoch == ARGV[6] then return 'there' end
  if generation ~= ARGV[4] or epoch ~= ARGV[5] then return 'lost' end
  if ARGV[7] ~= '' and stands ~= 'none' and stands ~= ARGV[7] then
    return redis.error_reply('WRONGTYPE ' .. KEYS[2] .. ' is a ' .. stands)
  end
elseif held('step') ~= step then
  return 'stopped'
elseif kind == 'same' then
  for at = 4, #ARGV, 2 do
    if (redis.call('HGET', KEYS[2], ARGV[at]) or '') ~= ARGV[at + 1] then return 'changed' end
  end
elseif kind == 'rows' then
  local at = 4
  while at < #ARGV do
    local last = at + tonumber(ARGV[at])
    redis.call(unpack(ARGV, at + 1, last))
    at = last + 1
  end
else
  redis.call('HDEL', KEYS[1], field('step'))
  redis.call('HSET', KEYS[1], field('epoch'), ARGV[4])
  return 'published'
end
redis.call('HSET', KEYS[1], field('step'), step + 1)
return 'done'
"""


class RedisPublisher:
    """See writing.EpochPublisher."""

    def __init__(self, request: SinkRequest) -> None:
        options = TableOptions(CONNECTOR, request.options)
        self._key, self._kind = options.text("key"), _KINDS[options.text("structure")]
        self._hash, self._rows = None, None
        if request.mode == "merge":
            self._hash = RedisHash(keyed_request(request, request.keys))
        else:
            self._rows = CommandEncoder(request, options)
        self._epochs, self._writer = f"{{{self._key}}}:epochs", request.publisher
        self._server = Endpoint(options, request.directory)
        self._script = self._server.client.register_script(_SCRIPT)
        self._epoch = self._generation = 0
        if not request.again:
            self._server.greet()

    def last_published(self) -> int:
        self._load()
        if self._hash:
            self._hash.note_merged()
        self._generation, epoch = self._server.await_answer(self._take_over)
        self._epoch = int(epoch or 0)
        return self._epoch

    def _load(self) -> None:
        self._server.await_answer(lambda client: client.script_load(_SCRIPT))

    def _take_over(self, client: Any) -> tuple[int, bytes | None]:
        pipeline = client.pipeline(transaction=True)
        pipeline.hincrby(self._epochs, f"{self._writer}:generation", 1)
        pipeline.hget(self._epochs, f"{self._writer}:epoch")
        generation, epoch = pipeline.execute()
        return generation, epoch

    def publish(self, epoch: int, frames: Iterable[pl.DataFrame]) -> None:
        while not self._try(epoch, frames):
            pass
        self._epoch = epoch

    def _try(self, epoch: int, frames: Iterable[pl.DataFrame]) -> bool:
        """Publish; False if that may come again, for the server was away, or another writer was quicker."""
        parts = [
            ("begin", self._generation, self._epoch, epoch, self._kind), *self._parts(frames), ("end", epoch),
        ]  # fmt: skip
        self._check_size(parts)
        answers = self._server.ask(lambda client: self._execute(client, parts))
        return self._is_visible(epoch) if isinstance(answers, Unreachable) else self._is_done(answers)

    def _parts(self, frames: Iterable[pl.DataFrame]) -> Iterator[Command]:
        """What the calls between the first and the last are given."""
        if self._rows:
            commands = [command for frame in frames if frame.height for command in self._rows.commands(frame)]
        elif rows := [frame for frame in frames if frame.height]:
            assert self._hash is not None
            changes = self._hash.changes(rows)
            for portion in _portions(changes):
                yield ("same", *(part for name, before, _ in portion for part in (name, before)))
            commands = [("HSET", self._key, name, value) for name, _, value in changes]
        else:
            commands = []
        for portion in _portions(commands):
            yield ("rows", *(part for command in portion for part in (len(command), *command)))

    def _check_size(self, parts: Sequence[Command]) -> None:
        size = sum(len(part) for arguments in parts for part in arguments if isinstance(part, bytes))
        if size > _BYTES_MOST:
            raise ConnectorError(
                f"the key '{self._key}' of Redis at {self._server.name}: an epoch has {size >> 20} MiB, and Redis takes at most "
                f"{_BYTES_MOST >> 20} MiB at once; write a smaller 'checkpoint.interval.ms'"
            )

    def _execute(self, client: Any, parts: Sequence[Command]) -> list[Any]:
        pipeline = client.pipeline(transaction=True)
        for step, (kind, *arguments) in enumerate(parts):
            pipeline.evalsha(self._script.sha, 2, self._epochs, self._key, self._writer, step, kind, *arguments)
        return list(pipeline.execute(raise_on_error=False))

    def _is_done(self, answers: Sequence[Any]) -> bool:
        """Whether the epoch is visible, by what the calls have answered.

        Raises:
            ConnectorError: it cannot be made visible.
        """
        errors = [(place, answer) for place, answer in enumerate(answers) if isinstance(answer, Exception)]
        if errors and isinstance(errors[0][1], NoScriptError):
            self._load()  # somebody has removed all scripts
            return False
        for place, error in errors:
            part = "; a part of an epoch has been written" if place else ""
            raise ConnectorError(f"{self._server.error(error)}{part}")
        if answers[0] in (b"fenced", b"lost"):
            raise self._refusal(answers[0] == b"fenced")
        return bool(answers[0] == b"there" or answers[-1] == b"published")

    def _refusal(self, fenced: bool) -> ConnectorError:
        where = f"the key '{self._key}' of Redis at {self._server.name}"
        if fenced:
            return ConnectorError(
                f"{where}: another task has taken over from '{self._writer}'; what this one had begun is not visible"
            )
        return ConnectorError(
            f"{where}: the server has lost what it had acknowledged: '{self._writer}' had published epoch {self._epoch}; write "
            "'appendfsync always' in its configuration, and start a new run"
        )

    def _is_visible(self, epoch: int) -> bool:
        """Whether a try was carried out whose answer has not arrived."""
        held = self._server.await_answer(lambda client: client.hget(self._epochs, f"{self._writer}:epoch"))
        return int(held or 0) == epoch

    def close(self) -> None:
        if self._hash:
            self._hash.close()
        self._server.client.close()


def _portions(items: Sequence[Any]) -> Iterator[Sequence[Any]]:
    return (items[start : start + _PORTION] for start in range(0, len(items), _PORTION))
