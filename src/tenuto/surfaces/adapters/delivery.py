"""Couriers: how a code reaches an address. Any function that takes a :class:`Delivery` is one."""

from __future__ import annotations

import smtplib
from collections.abc import Callable
from dataclasses import dataclass, field
from email.message import EmailMessage

from tenuto.errors import InputError, ProviderError
from tenuto.records.identity import Delivery

TIMEOUT = 30.0


def printing(echo: Callable[[str], object]) -> Callable[[Delivery], None]:
    """Shows the code where the program runs: for trying things out, and for an operator who passes it on by hand."""

    def deliver(delivery: Delivery) -> None:
        echo(f"To {delivery.address} ({delivery.channel}): {delivery.text}")

    return deliver


@dataclass(frozen=True, slots=True, kw_only=True)
class Smtp:
    """Sends codes by mail. ``link`` is an address with ``{token}`` in it that the reader may follow instead."""

    host: str
    sender: str
    port: int = 587
    user: str | None = None
    password: str | None = field(default=None, repr=False)
    tls: bool = True
    link: str | None = None

    def __call__(self, delivery: Delivery) -> None:
        if "@" not in delivery.address:
            raise InputError(
                f"{delivery.address} is not a mailbox: codes for it need another courier.", code="no_courier"
            )
        message = EmailMessage()
        message["From"], message["To"], message["Subject"] = self.sender, delivery.address, "Your code"
        message["Auto-Submitted"] = "auto-generated"
        link = f"\n\nOr follow this link: {self.link.format(token=delivery.token)}" if self.link else ""
        message.set_content(delivery.text + link + "\n")
        try:
            with smtplib.SMTP(self.host, self.port, timeout=TIMEOUT) as server:
                if self.tls:
                    server.starttls()
                if self.user is not None:
                    server.login(self.user, self.password or "")
                server.send_message(message)
        except (smtplib.SMTPException, OSError) as error:
            raise ProviderError(
                f"The code could not be sent to {delivery.address}: {error}.", code="delivery_failed"
            ) from error
