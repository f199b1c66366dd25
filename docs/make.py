"""Writes the pages that are made from the code: ``python docs/make.py``. A test fails while they differ from it.

``api.md`` from the public names, ``cli.md`` from the commands, ``settings.md`` from the dataclasses of ``policy.py``
and the strings below their fields, ``errors.md`` from the classes of ``errors.py`` and every ``code="…"`` in the
source.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import fields, is_dataclass
from datetime import timedelta
from pathlib import Path

import click

import tenuto
from tenuto import errors, policy, settings
from tenuto.surfaces.cli.main import COMMANDS, SECTIONS, find_command

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
        "the environment; later wins in the order file, environment, argument. An unknown name is an error; in the",
        "environment, which other programs share, it is a warning, and an error with `tenuto --strict`.",
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
        "Times are seconds; importance is 0–10; shares and similarities are 0–1. Where the store is and what it uses",
        "has names of its own in the environment:",
        ", ".join(f"`{settings.PREFIX}{name}`" for name in settings.CONNECTION) + ".",
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


def cli_page() -> str:
    lines = [
        "# Command line",
        "",
        "<!-- Made by docs/make.py from the commands themselves. -->",
        "",
        "`tenuto [--db PATH|URL] [--strict] COMMAND … [--json]`. `--db` names the store (default: `$TENUTO_DB`, else",
        "`./tenuto.db`), `--json` prints for machines, before or behind the command, `--strict` refuses unknown",
        "`TENUTO_…` variables, which otherwise only warn. `tenuto completion bash --install` (or zsh, fish) completes",
        "commands and options.",
        "",
        "A command that reads makes no store: a path or a user that is not there is an error that names what is.",
        "Times may be typed as `2026-03-01T12:30+01:00`, `2026-03-01`, `yesterday`, `3 days ago` or `30d` (that long",
        "ago). A list is as wide as the terminal; piped it has one line for each entry, cells separated by tabs.",
        "",
        "Exit codes: 0 done; 1 Tenuto could not do it, and says why and what to do; 2 the command line or the input",
        "was wrong.",
        "",
        *(
            f"- {title}: {', '.join(f'[{name}](#tenuto-{name})' for name in section)}"
            for title, section in SECTIONS.items()
        ),
    ]
    for path, command in _commands():
        lines += ["", f"## tenuto {path}", "", " ".join((command.help or "").split())]
        if isinstance(command, click.Group):
            continue
        shown = [
            part
            for part in command.params
            if not getattr(part, "hidden", False) and not {"--help", "--json"} & set(part.opts)
        ]
        if shown:
            lines += ["", "| | |", "|---|---|"]
        for part in shown:
            if isinstance(part, click.Option):
                lines.append(f"| `{'`, `'.join(part.opts)}` | {_cell(part.help or '')} |")
            else:
                lines.append(f"| `{(part.name or '').upper()}` | {'' if part.required else 'may be left out'} |")
    return "\n".join(lines) + "\n"


def _links(names: Iterable[str]) -> str:
    return ", ".join(f"[{name}](#tenuto-{name})" for name in names)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _commands() -> Iterator[tuple[str, click.Command]]:
    def walk(path: str, command: click.Command) -> Iterator[tuple[str, click.Command]]:
        yield path, command
        if isinstance(command, click.Group):
            for name, part in command.commands.items():
                yield from walk(f"{path} {name}", part)

    for name in COMMANDS:
        command = find_command(name)
        assert command is not None
        yield from walk(name, command)


def api_page() -> str:
    lines = [
        "# Public names",
        "",
        "<!-- Made by docs/make.py from tenuto.__all__. -->",
        "",
        "What is listed here stays; everything else may change without notice.",
    ]
    for name in tenuto.__all__:
        value = getattr(tenuto, name)
        if inspect.isfunction(value):
            lines += ["", f"## tenuto.{name}{_signature(value)}", "", inspect.getdoc(value) or ""]
            continue
        about = inspect.getdoc(value) or ""
        lines += ["", f"## tenuto.{name}", "", "" if about.startswith(f"{name}(") else about]
        if is_dataclass(value):
            lines += ["", "Fields: " + ", ".join(f"`{part.name}`" for part in fields(value)) + "."]
            continue
        if name.startswith("Async") or issubclass(value, BaseException):
            continue
        lines += ["", "| | |", "|---|---|"]
        for verb, member in vars(value).items():
            if not verb.startswith("_"):
                about = (inspect.getdoc(member) or "").split("\n\n")[0]
                shape = "" if isinstance(member, property) else _call(member)
                lines.append(f"| `{verb}{shape}` | {_cell(about).replace('``', '`')} |")
    return "\n".join(lines).replace("``", "`") + "\n"


def _signature(function: object) -> str:
    names = inspect.signature(function).parameters  # type: ignore[arg-type]
    return "(" + ", ".join(names) + ")"


def _call(function: object) -> str:
    """The parameters with their defaults, without types."""
    signature = inspect.signature(function)  # type: ignore[arg-type]
    bare = [one.replace(annotation=one.empty) for name, one in signature.parameters.items() if name != "self"]
    shown = signature.replace(parameters=bare, return_annotation=signature.empty)
    return re.sub(r"<Trust\.\w+: ('\w+')>", r"\1", str(shown))


def plain(text: str) -> str:
    """Markdown without the marks of docstrings and without trailing blanks."""
    return re.sub(r"[ \t]+$", "", re.sub(r":(?:class|meth|mod|func):`~?", "`", text), flags=re.MULTILINE)


ROOMS_BEGIN, ROOMS_END = "<!-- rooms: made by docs/make.py from the imports -->", "<!-- end of rooms -->"


def architecture_page() -> str:
    """The page as it is written by hand, with the table of rooms made from what imports what."""
    page = (HERE / "architecture.md").read_text(encoding="utf-8")
    before, rest = page.split(ROOMS_BEGIN)
    return before + ROOMS_BEGIN + "\n" + _rooms() + ROOMS_END + rest.split(ROOMS_END)[1]


def _rooms() -> str:
    """Every room with the first sentence of its docstring and the rooms that it imports from."""
    arrows: dict[str, set[str]] = {}
    for path in SOURCE.rglob("*.py"):
        room = path.relative_to(SOURCE).parts[0].removesuffix(".py")
        names = [
            node.module.split(".")
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("tenuto.")
        ]
        arrows.setdefault(room, set()).update(name[1] for name in names if name[1] != room)
    lines = ["| room | what it is | imports |", "|---|---|---|"]
    for room in sorted(name for name in arrows if not name.startswith("__")):
        file = SOURCE / room / "__init__.py" if (SOURCE / room).is_dir() else SOURCE / f"{room}.py"
        about = (ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or "").split("\n")[0]
        lines.append(f"| `{room}` | {_cell(about)} | {', '.join(sorted(arrows[room])) or 'nothing'} |")
    return "\n".join(lines) + "\n"


PAGES = {
    "settings.md": settings_page,
    "errors.md": errors_page,
    "cli.md": cli_page,
    "api.md": api_page,
    "architecture.md": architecture_page,
}

if __name__ == "__main__":
    for name, make in PAGES.items():
        (HERE / name).write_text(plain(make()), encoding="utf-8")
        sys.stderr.write(f"docs/{name}\n")
