"""Jobs one after another in one JVM, each by its own `main`; PySpark runs this, in a Python that need not know Ouzel.

    spark-submit drive.py JOBS.json

The first makes the session as it stands, and prints what it shows. What any job shows goes to a folder, and the session stays for the
next one. What each told is written beside JOBS.json.
"""

import io
import json
import os
import runpy
import sys
from collections.abc import Callable
from contextlib import redirect_stderr
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession


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


def keeping(folder: str, printed: Callable[..., None] | None) -> Callable[..., None]:
    """What stands for `DataFrame.show`: the whole frame goes to the folder, and is `printed` besides, if it is to be."""

    def show(frame: DataFrame, *rows: int, **how: bool) -> None:
        frame.write.parquet(folder)
        if printed:
            printed(frame, *rows, **how)

    return show


def classes() -> tuple[type, type]:
    """Those of the sessions and frames that jobs will have, whichever there are."""
    if "SPARK_REMOTE" in os.environ:
        from pyspark.sql.connect import dataframe, session
    else:
        from pyspark.sql import session
        from pyspark.sql.classic import dataframe
    return session.SparkSession, dataframe.DataFrame


def main(jobs: Path) -> None:
    """Run them all."""
    sessions, frames = classes()
    show, stop, told = frames.show, sessions.stop, {}
    sessions.stop = lambda session: None
    for job in json.loads(jobs.read_text()):
        frames.show = keeping(job["shown"], printed=None if told else show)
        told[job["name"]] = run(job)
        jobs.with_name("told.json").write_text(json.dumps(told))
    stop(SparkSession.builder.getOrCreate())


if __name__ == "__main__":
    main(Path(sys.argv[1]))
