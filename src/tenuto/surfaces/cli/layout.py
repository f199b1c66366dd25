"""How lists look: for a person as wide as the terminal is, for a program one line each and never wrapped.

An entry is a text with a few facts below it, which reads well at 40 columns and at 200. Piped, it is one line: the
facts and the text, separated by tabs.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import click
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

UNWRAPPED = 100_000
"""Columns for a program: more than any line has."""
BETWEEN = " · "


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing of a list: its text, and facts about it in the order of the columns."""

    text: str
    facts: tuple[str, ...]
    more: str = ""
    """A further paragraph, such as the reasons of a hit."""


def console(width: int | None = None) -> Console:
    """Where lists are printed: as wide as the terminal, or without an end for a program."""
    width = width or (shutil.get_terminal_size().columns if sys.stdout.isatty() else UNWRAPPED)
    return Console(width=width, height=25)  # both, or a plain terminal is taken to have 80 columns


def print_entries(entries: Sequence[Entry], nothing: str, *, width: int | None = None) -> None:
    """A list; ``width`` is the terminal's unless it is given, and ``nothing`` is said of an empty one."""
    if not entries:
        click.echo(nothing)
    elif width is None and not sys.stdout.isatty():
        for entry in entries:
            click.echo("\t".join(one_line(cell) for cell in (*entry.facts, entry.text, *filter(None, [entry.more]))))
    else:
        out = console(width)
        for entry in entries:
            out.print(Text(one_line(entry.text)), soft_wrap=False)
            for line in (BETWEEN.join(filter(None, entry.facts)), entry.more):
                if line:
                    out.print(Padding(Text(one_line(line), style="dim"), (0, 0, 0, 2)))


def print_table(names: tuple[str, ...], rows: Iterable[tuple[str, ...]], nothing: str) -> None:
    """Rows of short cells under their names."""
    table = Table(box=None, pad_edge=False)
    for name in names:
        table.add_column(name, overflow="fold", no_wrap=name == "id")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    console().print(table if table.row_count else nothing)


def one_line(text: str) -> str:
    """``text`` without line breaks and tabs, which would look like the end of an entry."""
    return " ".join(text.split())
