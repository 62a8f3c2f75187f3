"""Jobs one after another in one JVM, each by its own `main`; PySpark runs this, in a Python that need not know Ouzel.

    spark-submit drive.py JOBS.json

What a job shows goes to a folder instead, and its session stays for the next one. What each told is written beside JOBS.json.
"""

import io
import json
import runpy
import sys
from contextlib import redirect_stderr
from pathlib import Path

from pyspark.sql import SparkSession


def run(job: dict[str, object]) -> dict[str, object]:
    """One job: its error, if it fails, what it says, and whether it has Ouzel."""
    if job["wheel"]:  # as --py-files would, but only for the jobs that ask for it
        sys.path.insert(0, str(job["wheel"]))
    sys.argv = [str(job["path"]), *job["arguments"]]
    said, error = io.StringIO(), ""
    with redirect_stderr(said):
        try:
            runpy.run_path(str(job["path"]), run_name="__main__")
        except Exception as failed:
            error = f"{type(failed).__name__}: {failed}"
    return {"error": error, "said": said.getvalue(), "ouzel": "ouzel" in sys.modules}


def main(jobs: Path) -> None:
    """Run them all."""
    spark = SparkSession.builder.getOrCreate()
    frames, sessions, stop = type(spark.range(1)), type(spark), type(spark).stop
    told = {}
    sessions.stop = lambda session: None
    for job in json.loads(jobs.read_text()):
        frames.show = lambda frame, *rows, into=job["shown"], **how: frame.write.parquet(into)
        told[job["name"]] = run(job)
        jobs.with_name("told.json").write_text(json.dumps(told))
    stop(spark)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
