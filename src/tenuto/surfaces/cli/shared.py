"""What all commands share: the store they open, the user they speak for, and how results and errors look."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

import click
import msgspec

import tenuto
from tenuto.errors import InputError, TenutoError

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Settings:
    """The options before the command."""

    db: str | None
    as_json: bool

    @contextmanager
    def store(self, **options: Any) -> Iterator[tenuto.Tenuto]:
        """The store, closed at the end of the command."""
        with tenuto.open(self.db, **options) as store:
            yield store

    def show(self, value: Any, render: Callable[[], Any]) -> None:
        """``value`` as JSON for machines, or what ``render`` prints for people."""
        if self.as_json:
            click.echo(msgspec.json.format(msgspec.json.encode(value, enc_hook=_plain), indent=2).decode())
        else:
            render()


def for_user(function: F) -> F:
    """Adds ``--user``, ``--persona`` and ``--channel``."""
    for option in (
        click.option("--channel", default="terminal", show_default=True, help="Where the message came from."),
        click.option("--persona", help="The voice that the user talks to."),
        click.option("-u", "--user", default="me", show_default=True, envvar="TENUTO_USER", help="Whose memory."),
    ):
        function = option(function)
    return function


def moment(text: str | None) -> datetime | None:
    """``--at``: ISO 8601 with a time zone; one without is taken as local time."""
    if text is None:
        return None
    try:
        return datetime.fromisoformat(text).astimezone()
    except ValueError:
        raise InputError(f"'{text}' is not a time: write it as 2026-03-01T12:30+01:00.", code="time_invalid") from None


def fail(error: Exception, as_json: bool) -> int:
    """Say what went wrong and give the exit code. An error that is not ours keeps its traceback."""
    if not isinstance(error, TenutoError):
        raise error
    if as_json:
        click.echo(msgspec.json.encode({"error": {"code": error.code, "message": error.message}}).decode(), err=True)
    else:
        click.secho(f"{error.message}", fg="red", err=True)
        click.secho(f"({error.code})", dim=True, err=True)
    return 2 if isinstance(error, InputError) else 1


def read_text(text: str) -> str:
    """The argument, or standard input for ``-``."""
    return sys.stdin.read() if text == "-" else text


def _plain(value: Any) -> Any:
    if hasattr(value, "to_plain"):
        return value.to_plain()
    return str(value)
