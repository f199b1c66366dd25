"""What all commands share: the store they open, the user they speak for, and how results and errors look.

A command that reads opens only what exists: a mistyped path or name is an error that says what there is, and no file is
made.
"""

from __future__ import annotations

import difflib
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import click
import msgspec

import tenuto
from tenuto.errors import InputError, NotFound, TenutoError
from tenuto.settings import connection

F = TypeVar("F", bound=Callable[..., Any])
NAMED = 10
"""Most stores or users that an error names."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The options before the command."""

    db: str | None
    as_json: bool

    @contextmanager
    def store(self, **options: Any) -> Iterator[tenuto.Tenuto]:
        """The store, made if there is none, and closed at the end of the command."""
        with tenuto.open(self.db, **options) as store:
            yield store

    @contextmanager
    def existing(self, **options: Any) -> Iterator[tenuto.Tenuto]:
        """The store for commands that read or change what is there: none is made, and no job is carried out."""
        self.must_exist()
        with tenuto.open(self.db, background=False, **options) as store:
            yield store

    @contextmanager
    def person(self, user: str, persona: str | None = None, channel: str = "terminal") -> Iterator[tenuto.UserMemory]:
        """One user of an existing store."""
        with self.existing() as store:
            yield person(store, user, persona, channel)

    def must_exist(self) -> None:
        """Refuse a file that is not there, and name the ones beside it."""
        where = self.db or connection("db") or "tenuto.db"
        if where in ("memory:", ":memory:") or ("://" in where and not where.startswith("sqlite:///")):
            return
        path = Path(where.removeprefix("sqlite:///"))
        if path.exists():
            return
        if not path.parent.is_dir():
            raise NotFound(f"There is no store at {path}: the folder {path.parent} does not exist.", code="no_store")
        beside = sorted(one.name for one in path.parent.glob("*.db"))[:NAMED]
        there = f"In that folder: {', '.join(beside)}; choose with --db." if beside else "`tenuto observe` makes one."
        raise NotFound(f"There is no store at {path}. {there}", code="no_store")

    def show(self, value: Any, render: Callable[[], Any]) -> None:
        """``value`` as JSON for machines, or what ``render`` prints for people."""
        if self.as_json:
            click.echo(msgspec.json.format(msgspec.json.encode(value, enc_hook=_plain), indent=2).decode())
        else:
            render()


def person(store: tenuto.Tenuto, user: str, persona: str | None = None, channel: str = "terminal") -> tenuto.UserMemory:
    """One user of the store; one of whom nothing is kept is refused, with the names of those who are there."""
    memory, known = store.user(user, persona=persona, channel=channel), store.users()
    if memory.id in known:
        return memory
    if not known:
        raise NotFound("Nothing is kept of anybody yet; `tenuto observe` begins.", code="user_unknown")
    named = difflib.get_close_matches(user, known, n=NAMED) or known[:NAMED]
    more = f" and {len(known) - len(named)} more (`tenuto users`)" if len(known) > len(named) else ""
    raise NotFound(
        f"Nothing is kept of '{user}'. Known: {', '.join(named)}{more}; choose with -u.", code="user_unknown"
    )


def for_user(function: F) -> F:
    """Adds ``--user``, ``--persona`` and ``--channel``: for what is said."""
    channel = click.option("--channel", default="terminal", show_default=True, help="Where the message came from.")
    return of_user(channel(function))


def of_user(function: F) -> F:
    """Adds ``--user`` and ``--persona``: for what is read."""
    for option in (
        click.option("--persona", help="The voice that the user talks to."),
        click.option("-u", "--user", default="me", show_default=True, envvar="TENUTO_USER", help="Whose memory."),
    ):
        function = option(function)
    return function


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
    """The argument, or standard input for ``-``. What is not UTF-8 is refused, and not kept half-read."""
    if text == "-":
        given, where = sys.stdin.buffer.read(), "Standard input"
    else:
        given, where = text.encode(errors="surrogateescape"), "The text"
    try:
        return given.decode()
    except UnicodeDecodeError as error:
        raise InputError(
            f"{where} is not UTF-8 (byte {error.start + 1} is 0x{given[error.start]:02x}): convert it first, "
            "for example with `iconv -f latin1 -t utf-8`.",
            code="text_not_utf8",
        ) from None


def _plain(value: Any) -> Any:
    if hasattr(value, "to_plain"):
        return value.to_plain()
    return str(value)
