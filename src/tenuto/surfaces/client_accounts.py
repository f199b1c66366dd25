"""A remote user's files and addresses: export, import, linking and joining accounts."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import msgspec

from tenuto import errors
from tenuto.records.identity import Challenge, Delivery, MergePlan, UserMerge
from tenuto.records.scope import Identity
from tenuto.records.transfer import Import
from tenuto.surfaces.client_base import Calls
from tenuto.surfaces.client_link import part
from tenuto.transfer.export import SUFFIXES
from tenuto.transfer.files import Progress
from tenuto.transfer.report import Estimate


def _sent(path: str | os.PathLike[str], format: str | None, me: str | Iterable[str], timezone: str) -> dict[str, Any]:
    names = [me] if isinstance(me, str) else list(me)
    return {"name": Path(path).name, "format": format, "me": ",".join(names), "timezone": timezone}


class Accounts(Calls):
    """Verbs about everything that is kept of one person, and the addresses that lead to them."""

    def export(self, path: str | os.PathLike[str]) -> dict[str, int]:
        """Everything of this user as one file: ``.jsonl`` or ``.json`` to keep or move, ``.md`` to read."""
        target = Path(path)
        if target.suffix.lower() not in SUFFIXES:
            raise errors.InputError(f"{target.name}: an export ends in .json, .jsonl or .md.", code="export_kind")
        fetched = self._link.fetch(self._path("export"), {**self._scope, "format": target.suffix.lower()[1:]})
        try:
            target.write_bytes(fetched.content)
        except OSError as error:
            raise errors.NotWritable(f"{target} cannot be written: {error.strerror}.") from error
        return msgspec.json.decode(fetched.headers["tenuto-counts"], type=dict[str, int])

    def import_file(
        self,
        path: str | os.PathLike[str],
        *,
        format: str | None = None,
        me: str | Iterable[str] = (),
        timezone: str = "UTC",
        vouch: bool = False,
        extract: bool = True,
        progress: Progress | None = None,
    ) -> Import:
        """Bring in earlier talk or memories: one file, sent as it is read; a folder needs the library."""
        query = {**_sent(path, format, me, timezone), "vouch": vouch, "extract": extract}
        return msgspec.convert(self._send("imports", path, query), Import)

    def estimate_import(
        self,
        path: str | os.PathLike[str],
        *,
        format: str | None = None,
        me: str | Iterable[str] = (),
        timezone: str = "UTC",
    ) -> Estimate:
        """What an import would bring, from when, and what it would cost; nothing is written."""
        return msgspec.convert(self._send("imports/estimate", path, _sent(path, format, me, timezone)), Estimate)

    def _send(self, rest: str, path: str | os.PathLike[str], query: dict[str, Any]) -> Any:
        try:
            file = Path(path).open("rb")  # noqa: SIM115  closed below: only opening it is the caller's mistake
        except OSError as error:
            raise errors.InputError(f"{path} cannot be read: {error.strerror}.", code="file_unreadable") from None
        with file:
            return self._link.send(self._path(rest), {**self._scope, **query}, file)

    def imports(self) -> list[Import]:
        """What was imported, newest first."""
        return msgspec.convert(self._ask("GET", "imports"), list[Import])

    def vouch(self, import_id: str) -> Import:
        """Vouch for an import as a whole: its memories become active."""
        return self._write("POST", f"imports/{part(import_id)}/vouch", Import)

    def identities(self) -> list[Identity]:
        """The addresses that lead to this user."""
        return msgspec.convert(self._ask("GET", "identities"), list[Identity])

    def link(
        self,
        channel: str,
        address: str,
        deliver: Callable[[Delivery], None] | None = None,
        *,
        merge: bool = False,
        region: str | None = None,
    ) -> Challenge:
        """Send a code to another address. With ``deliver`` it is carried from here, which needs an app key."""
        by_caller = deliver is not None
        body = {"channel": channel, "address": address, "merge": merge, "region": region, "by_caller": by_caller}
        sent = self._ask("POST", "identities/link", body)
        carried = {name: sent.pop(name, None) for name in ("code", "token", "text")}
        made = msgspec.convert(
            {**sent, "user_id": self._user, "salt": "", "code_hash": "", "token_hash": ""}, Challenge
        )  # fmt: skip
        if deliver is not None:
            names = ("channel", "address", "purpose", "expires_at")
            deliver(Delivery(**carried, **{name: getattr(made, name) for name in names}))
        return made

    def confirm_link(self, channel: str, address: str, code: str, *, region: str | None = None) -> Identity:
        """Add the address that the code was sent to."""
        body = {"channel": channel, "address": address, "code": code, "region": region}
        return self._write("POST", "identities/confirm", Identity, body)

    def unlink(self, channel: str, address: str, *, region: str | None = None) -> Identity:
        """Take an address away; whoever writes from it next is somebody new."""
        body = {"channel": channel, "address": address, "region": region}
        return self._write("POST", "identities/unlink", Identity, body)

    def merge_plan(self, channel: str, address: str, code: str, *, region: str | None = None) -> MergePlan:
        """With the code from ``link(…, merge=True)``: what joining that address's account into this one would do."""
        body = {"channel": channel, "address": address, "code": code, "region": region}
        return self._write("POST", "user-merges/plan", MergePlan, body)

    def merge_user(self, plan: MergePlan) -> UserMerge:
        """Do what the plan showed. Can be taken back with :meth:`unmerge_user`."""
        return self._write("POST", "user-merges", UserMerge, msgspec.to_builtins(plan))

    def user_merges(self) -> list[UserMerge]:
        """Accounts that were joined into this one, newest first."""
        return msgspec.convert(self._ask("GET", "user-merges"), list[UserMerge])

    def unmerge_user(self, merge_id: str) -> UserMerge:
        """Give both accounts back as they were, plus what came since."""
        return self._write("POST", f"user-merges/{part(merge_id)}/undo", UserMerge)
