"""Mail: an mbox file, or one file per mail (``.eml``).

Only what a sender wrote themselves is taken; what they quoted is in the mailbox anyway, and is not theirs.
"""

from __future__ import annotations

from collections.abc import Iterator

from tenuto.errors import InputError
from tenuto.records.conversation import Role
from tenuto.records.transfer import Parsed, Said, Skipped
from tenuto.text import mail
from tenuto.transfer.parsing import Format, Options, digest, tidy
from tenuto.transfer.source import Member, Source

HEADERS = (
    b"from:",
    b"received:",
    b"return-path:",
    b"message-id:",
    b"date:",
    b"delivered-to:",
    b"mime-version:",
    b"to:",
)


def _is_mbox(member: Member) -> bool:
    head = member.head(512)
    return head.startswith(b"From ") and b"\n" in head


def _is_eml(member: Member) -> bool:
    return member.name.lower().endswith((".eml", ".emlx")) and _looks_like_mail(member.head(4096))


def _looks_like_mail(head: bytes) -> bool:
    return any(line.lower().startswith(HEADERS) for line in head.splitlines()[:30])


def recognise(source: Source) -> bool:
    return any(_is_mbox(member) or _is_eml(member) for member in source.members[:32])


def parse(source: Source, options: Options) -> Iterator[Parsed]:
    for member in source.members:
        if _is_mbox(member):
            for number, raw in enumerate(_mails(source, member, options.policy.mail_bytes), 1):
                yield _one(raw, f"{member.name}, mail {number}", options)
        elif _is_eml(member):
            with source.stream(member) as file:
                raw = file.read(options.policy.mail_bytes + 1)
            if member.name.lower().endswith(".emlx"):
                raw = raw.partition(b"\n")[2]
            yield _one(raw, member.name, options)


def _mails(source: Source, member: Member, limit: int) -> Iterator[bytes]:
    """The mails of an mbox, each bounded: a longer one is cut, and then refused for its size."""
    with source.stream(member) as file:
        held: list[bytes] = []
        size, blank = 0, True
        while line := file.readline(1 << 20):
            if blank and line.startswith(b"From "):
                if held:
                    yield b"".join(held)
                held, size, blank = [], 0, False
                continue
            blank = line in (b"\n", b"\r\n")
            if size <= limit:
                held.append(line[1:] if line.startswith((b">From ", b">>From ")) else line)
                size += len(line)
        if held:
            yield b"".join(held)


def _one(raw: bytes, where: str, options: Options) -> Parsed:
    if len(raw) > options.policy.mail_bytes:
        return Skipped(where=where, why=f"larger than {options.policy.mail_bytes // 2**20} MiB")
    try:
        found = mail.read(raw, html_bytes=options.policy.html_bytes)
    except InputError as error:
        return Skipped(where=where, why=error.message)
    text = tidy(found.text)
    if not text or found.at is None or not found.sender:
        why = "no date" if found.at is None else "no sender" if not found.sender else "no words of its own"
        return Skipped(where=where, why=why)
    mine = options.is_me(found.sender, found.sender_name)
    metadata: dict[str, object] = {"from": found.sender, "to": list(found.to[:20])}
    if found.subject:
        metadata["subject"] = found.subject[:300]
    if found.attachments:
        metadata["attachments"] = [dict(one) for one in found.attachments[:20]]
    return Said(
        id=found.id or digest(found.sender, found.at.isoformat(), text),
        content=text,
        role=Role.TOOL if found.automatic and not mine else Role.USER,
        at=found.at,
        thread=found.thread or found.subject or found.sender,
        title=found.subject,
        speaker=tidy(found.sender_name or found.sender) or None,
        mine=mine,
        channel="email",
        metadata=metadata,
    )


FORMAT = Format("mail", "mail (mbox or eml)", recognise, parse, people=True)
