"""A Chromium that a test drives, by Chromium's own protocol over two pipes: messages of JSON that end with a zero byte."""

from __future__ import annotations

import base64
import contextlib
import fcntl
import itertools
import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any, TypedDict

from tests.servers.waiting import wait_until

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")

_IN, _OUT = 3, 4
"""The descriptors at which Chromium reads and writes."""


class Clip(TypedDict):
    """A part of a page, in pixels."""

    x: int
    y: int
    width: int
    height: int


class Browser:
    """One tab of a browser of its own.

    Args:
        folder: for what it keeps.
        options: of Chromium's command, besides those that it always has.
    """

    def __init__(self, folder: Path, *options: str) -> None:
        assert CHROMIUM is not None
        its_in, self._to = os.pipe()
        self._from, its_out = os.pipe()
        its_ends = [fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (its_in, its_out)]
        command = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", *options]
        connected = f'exec "$0" "$@" {_IN}<&{its_ends[0]} {_OUT}>&{its_ends[1]}'
        self._process = subprocess.Popen(
            ["bash", "-c", connected, *command, f"--user-data-dir={folder}", "about:blank"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=its_ends,
        )
        for end in (its_in, its_out, *its_ends):
            os.close(end)
        self._numbers, self._text, self.said = itertools.count(1), b"", list[str]()
        self._session = ""
        target = self._call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self._call("Page.enable")
        self._call("Log.enable")
        self._call("Runtime.enable")

    def show(self, address: str) -> None:
        """Go to a page, and wait until it is there."""
        self._call("Page.navigate", url=address)
        wait_until(
            lambda: self.value("document.readyState") == "complete" and self.value("location.href") != "about:blank"
        )

    def value(self, code: str) -> Any:
        """What a piece of JavaScript gives on the page; None while another page comes."""
        with contextlib.suppress(RuntimeError):
            answer = self._call("Runtime.evaluate", expression=code, returnByValue=True, awaitPromise=True)
            return answer["result"].get("value")
        return None

    def look(self, width: int, scheme: str, height: int = 900) -> None:
        """Have a window of this width and height, and the colours of this scheme: light or dark."""
        self._call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600
        )
        self._call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def picture(self, clip: Clip) -> bytes:
        """A part of the page as WebP."""
        taken = self._call(
            "Page.captureScreenshot", format="webp", quality=60, captureBeyondViewport=True, clip={**clip, "scale": 1}
        )
        return base64.b64decode(taken["data"])

    def close(self) -> None:
        """End it."""
        with contextlib.suppress(OSError, RuntimeError, EOFError):
            self._session = ""
            self._call("Browser.close")
        self._process.wait(60)
        os.close(self._to)
        os.close(self._from)

    def _call(self, method: str, **parameters: Any) -> Any:
        """Ask for something, and wait for the answer; what the page said meanwhile is in `said`.

        Raises:
            RuntimeError: it cannot be done.
        """
        number = next(self._numbers)
        message = {"id": number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while True:
            heard = self._hear()
            if heard.get("id") == number:
                if "error" in heard:
                    raise RuntimeError(str(heard["error"]))
                return heard["result"]
            if heard.get("method") in ("Log.entryAdded", "Runtime.exceptionThrown", "Runtime.consoleAPICalled"):
                self.said.append(json.dumps(heard["params"]))

    def _hear(self) -> dict[str, Any]:
        while b"\0" not in self._text:
            chunk = os.read(self._from, 1 << 16)
            if not chunk:
                raise EOFError("the browser has ended")
            self._text += chunk
        message, _, self._text = self._text.partition(b"\0")
        heard: dict[str, Any] = json.loads(message)
        return heard
