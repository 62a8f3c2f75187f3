"""What Spark's workers import of Ouzel, held to what the page says that they must have."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.metadata import packages_distributions, requires
from pathlib import Path

ROOT = Path(__file__).parents[3]
IMPORTS = "ouzel.spark.io.source, ouzel.spark.io.sink, ouzel.connectors.file.source, ouzel.connectors.file.sink, ouzel.monoid.distinct"
WITHOUT = """
import sys
absent = set(sys.argv[1:])
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name in absent:
            raise ModuleNotFoundError(f"the page does not name {name}")
sys.meta_path.insert(0, Absent())
"""


def _documented() -> set[str]:
    text = (ROOT / "docs/batch.md").read_text()
    sentence = re.search(r"Spark's Python needs (.*?), and `confluent-kafka`", text, flags=re.DOTALL)
    assert sentence is not None
    return set(re.findall(r"`([\w-]+)`", sentence[1]))


def test_workers_import_what_the_page_names_and_no_more() -> None:
    """A job given to a cluster ended with "No module named 'xxhash'" where workers had all that the page named."""
    needed = {re.split(r"[^\w-]", each)[0].lower() for each in requires("ouzel") or () if "extra ==" not in each}
    unnamed = needed - _documented()
    absent = sorted(
        top for top, names in packages_distributions().items() if {name.lower() for name in names} & unnamed
    )
    assert "sqlglot" in absent
    program = f"{WITHOUT}\nimport {IMPORTS}"
    done = subprocess.run([sys.executable, "-c", program, *absent], capture_output=True, text=True, check=False)
    assert not done.returncode, done.stderr
