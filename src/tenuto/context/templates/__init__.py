"""The words around the memory, in files that an operator may edit.

A template is a text with fields in braces, ``{{`` and ``}}`` for a brace itself. Each file may use the fields listed in
:data:`FIELDS` and no other: a typo is an error that names the file, the field and the known ones, before anything is
sent to a model. An edited file lies in the folder that the setting ``context.templates`` names; what is missing there
comes from the package.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from importlib import resources
from pathlib import Path

from tenuto.errors import SettingError

FIELDS: Mapping[str, frozenset[str]] = {
    "stable": frozenset({"persona", "guidance", "evidence"}),
    "evidence": frozenset({"open", "close", "blocks"}),
    "notes": frozenset({"open", "close", "blocks"}),
    "guidance": frozenset({"label", "items"}),
    "block": frozenset({"label", "items"}),
    "line": frozenset({"date", "trust", "text"}),
    "fresh": frozenset({"clock", "evidence"}),
    "clock": frozenset({"date", "time", "weekday", "zone"}),
    "message": frozenset({"fresh", "message"}),
    "outside": frozenset({"open", "close", "date", "text"}),
    "persona": frozenset({"persona"}),
}
"""The files (``<name>.md``) and the fields that each may use."""

_PART = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")
_GAP = re.compile(r"\n{3,}")


class Templates:
    """Checked templates by name."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self.texts = texts
        self._parts = {name: _split(text.strip("\n")) for name, text in texts.items()}

    def fill(self, name: str, **values: str) -> str:
        """The template with its fields replaced; what an empty field leaves behind is closed up."""
        text, fields = self._parts[name]
        filled = text % tuple([values[field] for field in fields])
        if "\n\n\n" in filled and name != "line":
            filled = _GAP.sub("\n\n", filled)
        return filled if name == "line" else filled.strip("\n")


def _split(text: str) -> tuple[str, tuple[str, ...]]:
    """The text with ``%s`` for each field, and the fields in order."""
    found: list[str] = []
    fields: list[str] = []
    end = 0
    for part in _PART.finditer(text):
        found.append(text[end : part.start()].replace("%", "%%"))
        if part.group(1) is not None:
            fields.append(part.group(1))
        found.append("%s" if part.group(1) is not None else part.group()[0])
        end = part.end()
    return "".join([*found, text[end:].replace("%", "%%")]), tuple(fields)


def check(name: str, text: str, *, where: str) -> str:
    """The text of a template, or one clear error."""
    for part in _PART.finditer(text):
        field = part.group(1)
        if field is not None and field not in FIELDS[name]:
            raise SettingError(
                f"The template {where} uses the unknown field '{{{field}}}': known here are "
                f"{', '.join('{' + known + '}' for known in sorted(FIELDS[name]))}. Write {{{{ and }}}} for braces.",
                code="template_invalid",
            )
        if field is None and len(part.group()) == 1:
            raise SettingError(
                f"The template {where} holds a single '{part.group()}': write it twice for a brace itself.",
                code="template_invalid",
            )
    return text


@lru_cache(maxsize=8)
def load(folder: str | None = None) -> Templates:
    """The templates in force; read once per folder."""
    if folder is not None and not Path(folder).is_dir():
        raise SettingError(f"The folder of templates {folder} does not exist: create it, or unset context.templates.")
    return Templates({name: _read(name, folder) for name in FIELDS})


def _read(name: str, folder: str | None) -> str:
    edited = Path(folder) / f"{name}.md" if folder is not None else None
    if edited is not None and edited.exists():
        try:
            return check(name, edited.read_text(encoding="utf-8"), where=str(edited))
        except (OSError, UnicodeDecodeError) as error:
            raise SettingError(f"The template {edited} cannot be read: {error}.", code="template_invalid") from error
    packaged = resources.files(__package__) / f"{name}.md"
    return check(name, packaged.read_text(encoding="utf-8"), where=f"{name}.md")
