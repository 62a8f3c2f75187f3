"""A real S3 server for tests: versitygw, which keeps objects as files of a folder."""

from __future__ import annotations

import shutil
from pathlib import Path

import pyspark

from ouzel.planner.store_address import StoreAddress
from tests.servers.kafka import JARS, fetched
from tests.servers.process import ServerProcess, missing

KEY, SECRET = "ouzel-tests", "hunter2-of-s3"


def executable() -> str:
    """Its path. Without one the test is skipped, and fails where everything must be tested."""
    beside = Path(__file__).parents[2] / ".venv" / "bin" / "versitygw"
    if found := shutil.which("versitygw") or (str(beside) if beside.exists() else None):
        return found
    return missing("there is no versitygw: `make versitygw` builds one")


def spark_jars() -> Path:
    """The folder of the jars by which Spark reads and writes S3: of the Hadoop that is in Spark's package."""
    (client,) = (Path(pyspark.__file__).parent / "jars").glob("hadoop-client-api-*.jar")
    version = client.stem.removeprefix("hadoop-client-api-")
    pom = Path(__file__).with_name("spark-s3-pom.xml")
    return fetched(pom, JARS.with_name(f"spark-s3-{version}"), f"-Dhadoop.version={version}")


class S3Server(ServerProcess):
    """One server on a free port, with a bucket `kept`, whose objects are files that a test can look at and harm."""

    bucket = "kept"

    def __init__(self, directory: Path) -> None:
        super().__init__(directory)
        self._program = executable()
        self.objects = directory / "objects" / self.bucket
        self.objects.mkdir(parents=True)
        self.start()

    @property
    def endpoint(self) -> str:
        """What 'checkpoint.endpoint' says."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def environment(self) -> dict[str, str]:
        """Where the keys are."""
        return {
            "AWS_ACCESS_KEY_ID": KEY,
            "AWS_SECRET_ACCESS_KEY": SECRET,
            "AWS_REGION": "us-east-1",
            "AWS_ENDPOINT_URL": self.endpoint,
        }

    def address(self, prefix: str) -> StoreAddress:
        """A prefix of the bucket."""
        return StoreAddress(self.bucket, prefix, self.endpoint)

    def command(self) -> list[str]:
        """See ServerProcess."""
        keys = ["--access", KEY, "--secret", SECRET]
        place = ["--port", f"127.0.0.1:{self.port}", "--region", "us-east-1"]
        return [self._program, *keys, *place, "posix", str(self.objects.parent)]
