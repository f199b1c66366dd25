"""``tenuto chat``: talk in the terminal, with memory, with any model or none."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from tenuto.errors import InputError, TenutoError
from tenuto.surfaces.chat import Chat
from tenuto.surfaces.cli.shared import Settings, for_user

HELP = {
    "/why": "what the last answer rested on, with scores and dates",
    "/memories [WORDS]": "what is kept, or what is kept about something",
    "/pin TEXT": "keep something in every context",
    "/forget ID or WORDS": "hide a memory; it can be restored",
    "/private": "switch keeping off and on",
    "/context [full]": "what the model was shown, block by block",
    "/help": "this list",
    "/quit": "leave (or Ctrl-D)",
}
HISTORY = 200
"""Things said before that the arrow keys bring back; they come from the store, no file is written."""


@click.command()
@for_user
@click.option(
    "--model",
    help="'openai:…', 'anthropic:…', 'ollama:…', 'local:FILE', 'openai+http://…'. [default: $TENUTO_MODEL or none]",
)
@click.option("--budget", type=int, help="Tokens of a context, the answer included.  [default: 8000]")
@click.option("--private", is_flag=True, help="Begin without keeping anything.")
@click.pass_obj
def chat(
    settings: Settings,
    user: str,
    persona: str | None,
    channel: str,
    model: str | None,
    budget: int | None,
    private: bool,
) -> None:
    """Talk, and be remembered. Without a model, memory itself answers: what it knows, with dates."""
    with settings.store(model=model) as store:
        memory = store.user(user, persona=persona, channel=channel)
        talk = Terminal(Chat(store=store, memory=memory, budget=budget, private=private))
        talk.run()


class Terminal:
    """Reads lines, shows answers. Ctrl-C stops an answer, or clears the line; Ctrl-D leaves."""

    def __init__(self, chat: Chat, console: Console | None = None) -> None:
        self._chat = chat
        self._console = console or Console(highlight=False)
        self._commands: dict[str, Callable[[str], None]] = {
            "why": self._why,
            "memories": self._memories,
            "pin": self._pin,
            "forget": self._forget,
            "private": self._private,
            "context": self._context,
            "help": self._help,
        }

    def run(self) -> None:
        """Until the person leaves."""
        self._greet()
        for line in self._lines():
            if line in ("/quit", "/exit", "/q"):
                return
            try:
                if line.startswith("/"):
                    self._command(line)
                elif line:
                    self._turn(line)
            except TenutoError as error:
                self._console.print(Text(error.message, style="red"))

    def _lines(self) -> Iterator[str]:
        """What the person types; at the end of input, no more."""
        tty = sys.stdin.isatty()
        if tty:
            _history([m.content for m in self._chat.memory.messages(limit=HISTORY) if m.role == "user"])
        interrupted = False
        while True:
            try:
                yield input(self._prompt() if tty else "").strip()
                interrupted = False
            except EOFError:
                self._console.print()
                return
            except KeyboardInterrupt:
                self._console.print()
                if interrupted or not tty:
                    return
                interrupted = True
                self._console.print(Text("Once more to leave.", style="dim"))

    def _prompt(self) -> str:
        return "(private) > " if self._chat.private else "> "

    def _greet(self) -> None:
        model = self._chat.model
        who = model.name if model is not None else "no model: memory itself answers"
        self._console.print(Text(f"Tenuto, {self._chat.memory.id}, {who}. /help lists what can be asked.", style="dim"))

    def _turn(self, text: str) -> None:
        pieces = self._chat.answer(text)
        try:
            for piece in pieces:
                self._console.print(Text(piece), end="", soft_wrap=True)
        except KeyboardInterrupt:
            pieces.close()  # type: ignore[attr-defined]
            self._console.print(Text(" (stopped)", style="dim"), end="")
        self._console.print()
        for note in self._chat.context.notes if self._chat.context is not None else ():
            self._console.print(Text(note, style="dim"))

    def _command(self, line: str) -> None:
        name, _, rest = line[1:].partition(" ")
        found = self._commands.get(name.lower())
        if found is None:
            raise InputError(f"There is no /{name}. /help lists what there is.")
        found(rest.strip())

    def _help(self, _: str) -> None:
        table = Table(box=None, show_header=False, pad_edge=False)
        for name, what in HELP.items():
            table.add_row(Text(name, style="bold"), what)
        self._console.print(table)

    def _why(self, _: str) -> None:
        for line in self._chat.why():
            self._console.print(Text(line))

    def _memories(self, query: str) -> None:
        found = self._chat.memory.memories() if not query else None
        rows = (
            [(m.id, f"{m.created_at:%Y-%m-%d}", ("★ " if m.pinned else "") + m.content) for m in found]
            if found is not None
            else [(h.id, f"{h.at:%Y-%m-%d}", h.text) for h in self._chat.find(query)]
        )
        table = Table(box=None, show_header=False, pad_edge=False)
        for id, at, content in rows:
            table.add_row(Text(id, style="dim"), at, Text(content))
        self._console.print(table if rows else Text("Nothing is kept yet."))

    def _pin(self, text: str) -> None:
        if not text:
            raise InputError("Write what to pin: /pin Allergic to penicillin")
        self._chat.memory.remember(text, pin=True)
        self._console.print(Text(f"Pinned: {text}", style="green"))

    def _forget(self, what: str) -> None:
        if not what:
            raise InputError("Write what to forget: /forget mem_… or /forget the old address")
        chosen = what if what.startswith("mem_") and " " not in what else self._choose(what)
        if chosen:
            self._chat.memory.forget(chosen)
            self._console.print(Text(f"Forgotten; 'tenuto' can restore {chosen}.", style="green"))

    def _choose(self, query: str) -> str | None:
        found = self._chat.find(query)
        if not found:
            self._console.print(Text("No memory is about this."))
            return None
        for number, hit in enumerate(found, 1):
            self._console.print(Text(f"{number}  {hit.at:%Y-%m-%d}  {hit.text}"))
        with contextlib.suppress(EOFError, KeyboardInterrupt, ValueError):
            number = int(input("Which one? [none] "))
            if 1 <= number <= len(found):
                return found[number - 1].id
        return None

    def _private(self, _: str) -> None:
        on = self._chat.toggle_private()
        self._console.print(
            Text("Nothing is kept from now on." if on else "What you say is kept again.", style="green")
        )

    def _context(self, how: str) -> None:
        context = self._chat.context
        if context is None:
            self._console.print(Text("Nothing was said yet."))
            return
        if how == "full":
            for message in context.messages:
                self._console.print(Text(f"[{message['role']}]", style="bold"))
                self._console.print(Text(message["content"]))
            return
        table = Table(box=None, pad_edge=False)
        for name in ("block", "tokens", "items", "left out"):
            table.add_column(name, justify="right" if name in ("tokens", "items") else "left")
        for label, tokens, items, left in self._chat.blocks():
            table.add_row(label, str(tokens), str(items), Text(left, style="dim"))
        self._console.print(table)
        self._console.print(
            Text(f"{context.tokens} of {context.budget} tokens, {context.answer} for the answer", style="dim")
        )


def _history(said: list[str]) -> None:
    """Let the arrow keys bring back what was said before."""
    try:
        import readline
    except ModuleNotFoundError:  # Windows: the terminal has its own
        return
    readline.clear_history()
    for text in said:
        readline.add_history(" ".join(text.split()))
