"""Sends a notice: to a web server as JSON, by mail, or to a command."""

from __future__ import annotations

import json
import smtplib
import ssl
import subprocess
import urllib.request
from email.message import EmailMessage
from typing import Any
from urllib.error import URLError
from urllib.parse import urlsplit

from ouzel.errors import OuzelError
from ouzel.tracker import words
from ouzel.tracker.alerts.machine import AlertNotice
from ouzel.tracker.alerts.rules import Mail, Receiver, RunCommand, SecretPlace, Webhook, check_webhook_url

TIMEOUT_S = 10.0
COMMAND_S = 60.0


def send_notice(notice: AlertNotice, name: str, receiver: Receiver) -> None:
    """Send it to one receiver.

    Raises:
        OuzelError: it was not taken; nothing secret is in the text.
    """
    try:
        match receiver:
            case Webhook():
                _post(notice, name, receiver)
            case Mail():
                _mail(notice, receiver)
            case RunCommand(words=command):
                _run(notice, command)
    except (OSError, smtplib.SMTPException, subprocess.SubprocessError) as error:
        told = error.reason if isinstance(error, URLError) else isinstance(error, OSError) and error.strerror
        raise OuzelError(f"receiver '{name}' was not told: {told or type(error).__name__}") from None


def notice_fields(notice: AlertNotice) -> dict[str, Any]:
    """The notice as JSON says it."""
    return {
        "alert": notice.rule,
        "topology": notice.topology,
        "condition": notice.condition,
        "state": "firing" if notice.fires else "resolved",
        "since": words.time_text(int(notice.since_s * 1e6)) + " UTC",
        "text": notice.text,
    }


def _post(notice: AlertNotice, name: str, webhook: Webhook) -> None:
    url = webhook.url.read() if isinstance(webhook.url, SecretPlace) else webhook.url
    check_webhook_url(url, f"[receiver.{name}]")
    body = json.dumps(notice_fields(notice)).encode()
    request = urllib.request.Request(url, body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=TIMEOUT_S):
        pass


def _mail(notice: AlertNotice, mail: Mail) -> None:
    message = EmailMessage()
    message["Subject"] = " ".join(f"[ouzel] {notice.text}".split())
    message["From"], message["To"] = mail.sender, ", ".join(mail.to)
    message.set_content("\n".join(f"{key}: {value}" for key, value in notice_fields(notice).items()))
    address = urlsplit(f"//{mail.server}")
    with smtplib.SMTP(address.hostname or "", address.port or 25, timeout=TIMEOUT_S) as server:
        if mail.starttls:
            server.starttls(context=ssl.create_default_context())
        if mail.user:
            server.login(mail.user, mail.password.read() if mail.password else "")
        server.send_message(message)


def _run(notice: AlertNotice, command: tuple[str, ...]) -> None:
    body = json.dumps(notice_fields(notice)).encode()
    done = subprocess.run(command, input=body, stdout=subprocess.DEVNULL, timeout=COMMAND_S, check=False)
    if done.returncode:
        raise OuzelError(f"the command {command[0]} ended with {done.returncode}")
