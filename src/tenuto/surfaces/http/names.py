"""User ids in paths. A plain one stands as it is; one that a path cannot carry is written ``~`` + base64url."""

from __future__ import annotations

import base64
import binascii
import re

from tenuto.errors import InputError

_PLAIN = re.compile(r"[A-Za-z0-9@_+:-][A-Za-z0-9@._+:-]*")


def write(user: str) -> str:
    """A user id as one segment of a path."""
    if _PLAIN.fullmatch(user):
        return user
    return "~" + base64.urlsafe_b64encode(user.encode("utf-8", "surrogatepass")).decode().rstrip("=")


def read(segment: str) -> str:
    """The user id of a path's segment."""
    if not segment.startswith("~"):
        return segment
    encoded = segment[1:]
    try:
        return base64.b64decode(encoded + "=" * (-len(encoded) % 4), altchars=b"-_", validate=True).decode()
    except (ValueError, binascii.Error):
        raise InputError("A user id that begins with ~ is base64url of the id.", code="name_invalid") from None
