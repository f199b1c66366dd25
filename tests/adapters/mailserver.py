"""Real mail servers on this machine: an IMAP server (pymap) and an SMTP server (aiosmtpd)."""

from __future__ import annotations

import imaplib
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from email.message import EmailMessage
from typing import Any

from aiosmtpd.controller import Controller

USER, PASSWORD = "demouser", "demopass"


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@contextmanager
def imap() -> Iterator[int]:
    """The port of an IMAP server with an empty mailbox in memory."""
    port = free_port()
    code = "from pymap.main import main; main()"
    arguments = [
        "--host",
        "127.0.0.1",
        "--port",
        str(port),
        "--no-tls",
        "--no-service",
        "managesieve",
        "dict",
        "--demo-data",
    ]
    process = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", code, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        end = time.monotonic() + 30
        while True:
            try:
                with imaplib.IMAP4("127.0.0.1", port, timeout=5) as connection:
                    connection.login(USER, PASSWORD)
                    connection.create("Tenuto")
                break
            except (OSError, imaplib.IMAP4.error):
                if process.poll() is not None or time.monotonic() > end:
                    raise
                time.sleep(0.1)
        yield port
    finally:
        process.terminate()
        process.wait(10)


def drop(port: int, raw: bytes) -> None:
    """Put a mail into the mailbox, unseen."""
    with imaplib.IMAP4("127.0.0.1", port, timeout=5) as connection:
        connection.login(USER, PASSWORD)
        status, answer = connection.append("Tenuto", "", imaplib.Time2Internaldate(time.time()), raw)
        assert status == "OK", answer


class Caught:
    """Keeps what was sent to it."""

    def __init__(self) -> None:
        self.mails: list[EmailMessage] = []

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:
        from email import message_from_bytes, policy

        self.mails.append(message_from_bytes(envelope.content, policy=policy.default))
        return "250 OK"


@contextmanager
def smtp() -> Iterator[tuple[int, Caught]]:
    """The port of an SMTP server, and what arrives there."""
    caught = Caught()
    controller = Controller(caught, hostname="127.0.0.1", port=free_port())
    controller.start()
    try:
        yield controller.port, caught
    finally:
        controller.stop()
