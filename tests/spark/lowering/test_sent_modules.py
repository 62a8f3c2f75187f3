"""Functions in a job's text bring along the modules of their program that they call: Spark's workers could not import them."""

from __future__ import annotations

import importlib
import subprocess
import sys
from base64 import b64encode
from pathlib import Path

import pytest

from ouzel.spark.lowering.python_steps import _pickle

FILES = {
    "sent_steps.py": "import sent_helpers\nfrom sent_package.twice import Twice, twice\n"
    "def step(n):\n    assert isinstance(twice(n), Twice)\n    return sent_helpers.add(twice(n).n)\n",
    "sent_helpers.py": "import threading\nfrom sent_package import twice\n{global}"
    "def add(n):\n    assert twice.Twice(n).n == n\n    return n + 1\n",
    "sent_package/__init__.py": "",
    "sent_package/twice.py": "class Twice:\n    def __init__(self, n):\n        self.n = n\n"
    "def twice(n):\n    return Twice(2 * n)\n",
}
LOAD = "import sys, pickle, base64; print(pickle.loads(base64.b64decode(sys.argv[1]))(20))"


@pytest.mark.parametrize("beside", ["", "lock = threading.Lock()\n"], ids=["plain", "with a lock"])
def test_modules_that_a_function_calls_go_along_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, beside: str
) -> None:
    """A worker said that there was no module 'sent_helpers'. What holds a lock cannot go along, and is still imported by its name."""
    (tmp_path / "sent_package").mkdir()
    for name, text in FILES.items():
        (tmp_path / name).write_text(text.replace("{global}", beside))
    monkeypatch.syspath_prepend(tmp_path)
    step = importlib.import_module("sent_steps").step
    text = b64encode(_pickle(step, ["map step"], [step])).decode()
    for name in [name for name in sys.modules if name.startswith("sent_")]:
        del sys.modules[name]
    ran = subprocess.run([sys.executable, "-P", "-c", LOAD, text], capture_output=True, text=True, check=False)
    if beside:
        assert "No module named 'sent_" in ran.stderr
    else:
        assert ran.stdout == "41\n", ran.stderr
