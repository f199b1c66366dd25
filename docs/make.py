"""Writes the pages that are made from the code: ``python docs/make.py``. A test fails while they differ from it.

``settings.md`` from the dataclasses of ``policy.py`` and the strings below their fields; ``errors.md`` from the classes
of ``errors.py`` and from every ``code="…"`` in the source.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections.abc import Iterator
from dataclasses import fields
from datetime import timedelta
from pathlib import Path

from tenuto import errors, policy, settings

HERE = Path(__file__).parent
SOURCE = Path(policy.__file__).parent


def settings_page() -> str:
    said = _field_docs()
    lines = [
        "# Settings",
        "",
        "<!-- Made by docs/make.py from src/tenuto/policy.py. -->",
        "",
        "Every number that Tenuto holds by default. A setting is `group.name`: give it as an argument, in a file or in",
        "the environment; later wins in the order file, environment, argument. An unknown name is an error.",
        "",
        "```toml",
        "# a file named by TENUTO_CONFIG",
        "[session]",
        "idle_close = 900",
        "```",
        "",
        '- argument: `tenuto.open(policy={"session": {"idle_close": 900}})`',
        "- environment: `TENUTO_SESSION__IDLE_CLOSE=900`",
        "",
        "Times are seconds; importance is 0–10; shares and similarities are 0–1. Where the store is and what it uses has",
        f"names of its own in the environment: {', '.join(f'`{settings.PREFIX}{name}`' for name in settings.CONNECTION)}.",
    ]
    for group in fields(policy.Policy):
        values = getattr(policy.DEFAULT, group.name)
        about = inspect.getdoc(type(values)) or ""
        lines += ["", f"## {group.name}", ""]
        if about and not about.startswith(type(values).__name__):
            lines += [about, ""]
        lines += ["| setting | default | meaning |", "|---|---|---|"]
        for part in fields(values):
            shown = _shown(getattr(values, part.name))
            meaning = said.get((type(values).__name__, part.name), "")
            lines.append(f"| `{group.name}.{part.name}` | {shown} | {meaning} |")
    lines += ["", "## calibration", ""]
    lines += ["Thresholds that belong to one embedding model and come with it, not with the policy.", ""]
    lines += ["| name | default | meaning |", "|---|---|---|"]
    for part in fields(policy.Calibration):
        meaning = said.get(("Calibration", part.name), "")
        lines.append(f"| `{part.name}` | {_shown(getattr(policy.Calibration(), part.name))} | {meaning} |")
    return "\n".join(lines) + "\n"


def _shown(value: object) -> str:
    if isinstance(value, timedelta):
        spoken = _spoken(value)
        return f"{value.total_seconds():g} s" + (f" ({spoken})" if spoken else "")
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    return "none" if value is None or value in ({}, (), "") else f"{value}"


def _spoken(value: timedelta) -> str:
    for name, unit in (("days", 86400), ("hours", 3600), ("minutes", 60)):
        if value.total_seconds() >= unit:
            number = value.total_seconds() / unit
            return f"{number:g} {name if number != 1 else name[:-1]}"
    return f"{value.total_seconds() * 1000:g} ms" if value < timedelta(seconds=1) else ""


def _field_docs() -> dict[tuple[str, str], str]:
    """(class, field) → the string below the field."""
    found: dict[tuple[str, str], str] = {}
    tree = ast.parse((SOURCE / "policy.py").read_text(encoding="utf-8"))
    for owner in (node for node in tree.body if isinstance(node, ast.ClassDef)):
        for field, below in zip(owner.body, owner.body[1:], strict=False):
            if not isinstance(field, ast.AnnAssign) or not isinstance(field.target, ast.Name):
                continue
            if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant):
                text = " ".join(str(below.value.value).split()).replace("``", "`").replace("|", "\\|")
                found[owner.name, field.target.id] = text
    return found


def errors_page() -> str:
    tree = (errors.__doc__ or "").split("\n\n")[1]
    lines = [
        "# Errors",
        "",
        "<!-- Made by docs/make.py from src/tenuto/errors.py and the codes in the source. -->",
        "",
        "Everything that Tenuto raises on purpose is a `tenuto.TenutoError`. `code` is stable, for programs; the",
        "message says what happened and what to do next; `retry` tells whether the same call may succeed later.",
        "",
        "```",
        inspect.cleandoc(tree),
        "```",
        "",
        "| code | error | retry | meaning |",
        "|---|---|---|---|",
    ]
    for error in _classes():
        about = " ".join((inspect.getdoc(error) or "").split()).replace("``", "`")
        lines.append(f"| `{error.code}` | `{error.__name__}` | {'yes' if error.retry else 'no'} | {about} |")
    lines += [
        "",
        "## Finer codes",
        "",
        "Some places say more precisely what was wrong. The class is the one named; the message tells the rest.",
        "",
        "| code | error | where |",
        "|---|---|---|",
    ]
    lines += [f"| `{code}` | {kinds} | {places} |" for code, kinds, places in _finer()]
    return "\n".join(lines) + "\n"


def _classes() -> Iterator[type[errors.TenutoError]]:
    for value in vars(errors).values():
        if isinstance(value, type) and issubclass(value, errors.TenutoError):
            yield value


def _finer() -> list[tuple[str, str, str]]:
    found: dict[str, tuple[set[str], set[str]]] = {}
    for path in sorted(SOURCE.rglob("*.py")):
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(call, ast.Call):
                continue
            name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
            for keyword in call.keywords:
                if keyword.arg == "code" and isinstance(keyword.value, ast.Constant) and hasattr(errors, name):
                    kinds, places = found.setdefault(str(keyword.value.value), (set(), set()))
                    kinds.add(f"`{name}`")
                    places.add(path.relative_to(SOURCE).with_suffix("").as_posix())
    return [
        (code, ", ".join(sorted(kinds)), ", ".join(sorted(places))) for code, (kinds, places) in sorted(found.items())
    ]


PAGES = {"settings.md": settings_page, "errors.md": errors_page}

if __name__ == "__main__":
    for name, make in PAGES.items():
        (HERE / name).write_text(re.sub(r"[ \t]+$", "", make(), flags=re.MULTILINE), encoding="utf-8")
        sys.stderr.write(f"docs/{name}\n")
