"""What models are asked, as text files that a reader can edit.

``load`` reads the packaged text, or the file of the same name in the directory that the setting ``model.prompts``
names.
"""

from __future__ import annotations

from functools import lru_cache
from importlib import resources
from pathlib import Path

from tenuto.errors import SettingError

LARGEST = 64 * 1024
"""Bytes of a prompt."""


@lru_cache(maxsize=32)
def load(name: str, directory: str = "") -> str:
    """The prompt ``name``; the user's own where the directory has one."""
    own = Path(directory) / f"{name}.md" if directory else None
    if own is None or not own.is_file():
        return resources.files("tenuto.prompts").joinpath(f"{name}.md").read_text(encoding="utf-8")
    if own.stat().st_size > LARGEST:
        raise SettingError(f"The prompt {own} is larger than {LARGEST:,} bytes: shorten it.")
    return own.read_text(encoding="utf-8")
