"""An answer as text, with all it holds: a look for another's words must not miss what a short ``repr`` leaves out."""

from __future__ import annotations

from typing import Any

import msgspec


def spelled(value: Any) -> str:
    return msgspec.json.encode(value, enc_hook=repr).decode()
