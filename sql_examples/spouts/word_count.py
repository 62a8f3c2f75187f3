"""The papers' word count from a server of its own: started, filled, read by a topology, compared with a batch job, and stopped.

python sql_examples/spouts/word_count.py kestrel|kafka [lines]
"""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

FOLDER = Path(__file__).parent
sys.path.insert(0, str(FOLDER.parents[1]))

LINES = FOLDER.parent / "data" / "announcements.txt"


@contextmanager
def kestrel(directory: Path, lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    """A Kestrel server with the lines in a queue; the address in the query, and its own."""
    from tests.servers.kestrel import KestrelServer

    server = KestrelServer(directory / "kestrel")
    try:
        with socket.create_connection(("127.0.0.1", server.port)) as client, client.makefile("rb") as replies:
            for start in range(0, len(lines), 1_000):
                some = [line.encode() for line in lines[start : start + 1_000]]
                client.sendall(b"".join(b"set announcements 0 0 %d\r\n%b\r\n" % (len(line), line) for line in some))
                for _ in some:
                    replies.readline()
        yield "127.0.0.1:22133", server.address
    finally:
        server.kill()


@contextmanager
def kafka(directory: Path, lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    """A Kafka broker with the lines in a topic; the address in the query, and its own."""
    from tests.servers.kafka import KafkaBroker

    broker = KafkaBroker(directory / "kafka")
    try:
        broker.create_topic("announcements")
        broker.produce("announcements", [line.encode() for line in lines])
        yield "127.0.0.1:9092", broker.address
    finally:
        broker.kill()


def main(kind: str, count: int) -> int:
    """Run it all; what `ouzel reconcile` ends with."""
    lines = LINES.read_text().splitlines()[:count]
    with TemporaryDirectory() as folder:
        home = Path(folder)
        print(f"starting {kind}, and putting {len(lines):,} lines into it", flush=True)
        with {"kestrel": kestrel, "kafka": kafka}[kind](home, lines) as (written, address):
            query = home / f"word_count_{kind}.sql"
            query.write_text((FOLDER / query.name).read_text().replace(written, address))
            ouzel = [sys.executable, "-m", "ouzel"]
            run = subprocess.run([*ouzel, "run", query, "--record", home / "record", "--parallelism", "2"], check=False)
            return (
                run.returncode
                or subprocess.run([*ouzel, "reconcile", query, "--record", home / "record"], check=False).returncode
            )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 20_000))
