"""`ouzel ui --tls-cert`: what is refused before it listens, and that connections are encrypted."""

from __future__ import annotations

import re
import signal
import ssl
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
import trustme

from ouzel.errors import OuzelError
from ouzel.tracker.serve import TlsFiles, choose_tls


@pytest.fixture
def authority() -> trustme.CA:
    """Who signs the certificates."""
    return trustme.CA()


@pytest.fixture
def files(authority: trustme.CA, tmp_path: Path) -> TlsFiles:
    """A certificate for localhost, and its key."""
    made = authority.issue_cert("localhost")
    made.cert_chain_pems[0].write_to_path(tmp_path / "cert.pem")
    made.private_key_pem.write_to_path(tmp_path / "key.pem")
    return TlsFiles(tmp_path / "cert.pem", tmp_path / "key.pem")


def test_a_host_that_others_reach_needs_a_certificate_or_a_word(files: TlsFiles) -> None:
    with pytest.raises(OuzelError, match=r"would send the token .* unencrypted; write --tls-cert"):
        choose_tls("0.0.0.0", None, None)
    assert choose_tls("0.0.0.0", None, None, plain=True) is None
    assert choose_tls("127.0.0.1", None, None) is None
    assert choose_tls("0.0.0.0", files.certificate, files.key) == files


def test_what_cannot_be_used_is_refused(files: TlsFiles, tmp_path: Path) -> None:
    with pytest.raises(OuzelError, match="belong together"):
        choose_tls("127.0.0.1", files.certificate, None)
    with pytest.raises(OuzelError, match="exclude each other"):
        choose_tls("127.0.0.1", files.certificate, files.key, plain=True)
    with pytest.raises(OuzelError, match=r"cannot be used with the key in .*: No such file"):
        choose_tls("127.0.0.1", files.certificate, tmp_path / "none.pem")
    (tmp_path / "bad.pem").write_text("no certificate")
    with pytest.raises(OuzelError, match="both must be PEM"):
        choose_tls("127.0.0.1", tmp_path / "bad.pem", files.key)
    other = trustme.CA().issue_cert("localhost")
    other.private_key_pem.write_to_path(tmp_path / "other.pem")
    with pytest.raises(OuzelError, match="cannot be used with the key"):
        choose_tls("127.0.0.1", files.certificate, tmp_path / "other.pem")


@pytest.mark.server
def test_connections_are_encrypted(authority: trustme.CA, files: TlsFiles, tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "ouzel",
        "ui",
        "--port",
        "0",
        "--tls-cert",
        files.certificate,
        "--tls-key",
        files.key,
    ]
    environment = {"OUZEL_HOME": str(tmp_path / "home"), "PATH": "/usr/bin:/bin", "PYTHONPATH": ":".join(sys.path)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        try:
            assert process.stdout is not None
            told = re.fullmatch(r"topologies are on https://127\.0\.0\.1:(\d+)/\n", process.stdout.readline())
            assert told is not None
            context = ssl.create_default_context()
            authority.configure_trust(context)
            with urllib.request.urlopen(f"https://localhost:{told[1]}/health", context=context, timeout=60) as answer:
                assert answer.read() == b"ok"
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(60)
