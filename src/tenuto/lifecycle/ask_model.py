"""One question to a model, with a time limit, and with every way to fail turned into :class:`ModelError`.

A model that hangs is left behind in its thread; the work goes on without it. Whatever a client library raises is the
model's failure, not the job's: the rules take over.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from tenuto.errors import ModelError
from tenuto.ports import Answer, Model


def ask(
    model: Model,
    *,
    system: str,
    user: str,
    timeout: timedelta,
    schema: Mapping[str, Any] | None = None,
    tokens: int = 2048,
) -> Answer:
    """The answer, or :class:`ModelError`."""
    box: list[Answer | Exception] = []

    def run() -> None:
        try:
            box.append(model.complete(system=system, user=user, schema=schema, max_tokens=tokens))
        except Exception as error:  # noqa: BLE001 - a client may raise anything; it must end here, not in the thread
            box.append(error)

    thread = threading.Thread(target=run, name="tenuto-model", daemon=True)
    thread.start()
    thread.join(timeout.total_seconds())
    if not box:
        raise ModelError(f"The model gave no answer within {timeout.total_seconds():.0f} s.")
    found = box[0]
    if isinstance(found, ModelError):
        raise found
    if isinstance(found, Exception):
        raise ModelError(f"The model failed: {type(found).__name__}: {found}")
    if not isinstance(found.text, str):
        raise ModelError("The model's client gave no text.")
    return found
